import { AtomicFile } from '../../artifacts/atomic-file.ts';
import { describeGate } from '../../artifacts/diff-verdict.ts';
import { AssayError } from '../../core/errors.ts';
import { toPrintable } from '../../core/printable.ts';
import { BundleError } from '../../evidence/bundle/bundle-error.ts';
import { compareBundles, type Comparison } from '../../evidence/diff/compare.ts';
import { applyGate, type Gate, GATE_KINDS, type GateKind } from '../../evidence/diff/gate.ts';
import { BASELINE, CANDIDATE, Ledger, type SideBit } from '../../evidence/diff/ledger.ts';
import { type Side, SideReader } from '../../evidence/diff/side.ts';
import { findClosest } from '../../policy/did-you-mean.ts';
import { BaselineStore } from '../baseline-store.ts';
import { nameBundle, scanBundle } from '../bundle-file.ts';
import type { FlagValues } from '../flag-values.ts';
import type { ParsedCommand } from '../parse.ts';

const TEXT: ReadonlySet<string> = new Set(['text', 'human']);

type Given = Pick<ParsedCommand, 'flags' | 'rest'>;

/** `assay evidence diff`: what the candidate did that the baseline did not, and the other way round. */
export async function run({ flags, rest }: Given): Promise<number> {
  const failOn = readKinds(flags.list('fail-on'));
  const store = readStore({ flags, rest });
  const isStoring = flags.has('write-baseline') || flags.has('update-baseline');
  if (store && isStoring) return storeBaseline(store, { flags, rest });
  const { baseline, candidate } = choosePaths(store, rest);
  const ledger = new Ledger();
  const comparison = compareBundles(
    ledger,
    await readSide(baseline, ledger, BASELINE),
    await readSide(candidate, ledger, CANDIDATE),
  );
  const gate = failOn.length > 0 ? applyGate(comparison, failOn) : undefined;
  await write(comparison, gate, flags);
  if (!gate || gate.failed.length === 0) return 0;
  // Where the text does not say it, since there is none to be seen.
  if (flags.has('output') || !TEXT.has(flags.text('format') ?? 'text'))
    process.stderr.write(`assay: ${describeGate(gate)}\n`);
  return 1;
}

async function readSide(path: string, ledger: Ledger, bit: SideBit): Promise<Side> {
  const reader = new SideReader(ledger, bit);
  const verified = await scanBundle(path, { onEvent: (event) => reader.add(event) });
  return reader.finish(verified);
}

async function write(
  comparison: Comparison,
  gate: Gate | undefined,
  flags: FlagValues,
): Promise<void> {
  const pieces = await render(comparison, gate, flags.text('format') ?? 'text');
  const output = flags.text('output');
  if (output === undefined) {
    for (const piece of pieces) process.stdout.write(piece);
    return;
  }
  const file = new AtomicFile(output, 'the comparison');
  try {
    file.write(pieces);
  } finally {
    file.close();
  }
}

async function render(
  comparison: Comparison,
  gate: Gate | undefined,
  format: string,
): Promise<Iterable<string>> {
  switch (format) {
    case 'json':
      return (await import('../../artifacts/diff-json.ts')).writeDiffJson(comparison, gate);
    case 'markdown':
      return [
        (await import('../../artifacts/diff-markdown.ts')).writeDiffMarkdown(comparison, gate),
      ];
    default:
      return [(await import('../../artifacts/diff-text.ts')).writeDiffText(comparison, gate)];
  }
}

function readKinds(names: readonly string[]): GateKind[] {
  return names.map((name) => {
    const known = GATE_KINDS.find((kind) => kind === name);
    if (known !== undefined) return known;
    const closest = findClosest(name, [...GATE_KINDS]);
    const guess = closest === undefined ? '' : `, did you mean ${closest}?`;
    throw new AssayError('E_USAGE', `--fail-on does not know "${name}"${guess}`, {
      hint: `It takes ${GATE_KINDS.join(', ')}`,
    });
  });
}

function readStore({ flags, rest }: Given): BaselineStore | undefined {
  const directory = flags.text('baseline-dir');
  const key = flags.text('key');
  if (directory === undefined && key === undefined) {
    for (const name of ['write-baseline', 'update-baseline'])
      if (flags.has(name)) throw refuse(`--${name} needs --baseline-dir and --key`);
    if (rest.length < 2)
      throw refuse('A comparison needs two bundles, or --baseline-dir and --key');
    return undefined;
  }
  if (directory === undefined || key === undefined)
    throw refuse('--baseline-dir and --key belong together');
  if (rest.length > 1) throw refuse('With a stored baseline there is one BUNDLE, the candidate');
  return new BaselineStore(directory, key);
}

function choosePaths(
  store: BaselineStore | undefined,
  rest: readonly string[],
): { baseline: string; candidate: string } {
  const [first = '', second = ''] = rest;
  if (store) return { baseline: store.find(), candidate: first };
  if (first === '-' && second === '-')
    throw refuse('Only one of the two bundles can come from standard input');
  return { baseline: first, candidate: second };
}

async function storeBaseline(store: BaselineStore, { flags, rest }: Given): Promise<number> {
  const [source = ''] = rest;
  let runId = '';
  try {
    await store.store(source, {
      mayReplace: flags.has('update-baseline'),
      check: async (path) => {
        const { manifest } = await scanBundle(path);
        runId = manifest.run_id;
      },
    });
  } catch (error) {
    // Not the copy, of which nobody knows.
    if (error instanceof BundleError) error.file = nameBundle(source);
    throw error;
  }
  process.stdout.write(`Stored ${toPrintable(runId)} as ${toPrintable(store.path)}\n`);
  return 0;
}

function refuse(message: string): AssayError {
  return new AssayError('E_USAGE', message, { hint: 'Try assay evidence diff --help' });
}
