import { readFileSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { AssayError } from '../../core/errors.ts';
import { toPrintable, toPrintableLines } from '../../core/printable.ts';
import { readHostTree } from '../../launch/host-tree.ts';
import { distPath } from '../../launch/helper-path.ts';
import { findClosest } from '../../policy/did-you-mean.ts';
import type { FlagValues } from '../flag-values.ts';
import { loadRunPolicy, readVariables } from '../load-run-policy.ts';
import type { ParsedCommand } from '../parse.ts';
import { applyEdits, type ConfigDocument, type ServerEntry } from '../wrap/config-document.ts';
import { CLIENTS, type ClientName, findConfigFiles, openConfig } from '../wrap/config-files.ts';
import { renderDiff } from '../wrap/text-diff.ts';
import { planUndo, planWrap, type ServerPlan, type WrapCommand } from '../wrap/wrap-edits.ts';
import { WrapState } from '../wrap/wrap-state.ts';
import { replaceConfig } from '../wrap/write-config.ts';

const SANDBOX_FLAGS = ['policy', 'preset', 'allow-read', 'allow-write', 'allow-net'];

interface FilePlan {
  readonly file: string;
  readonly document: ConfigDocument;
  readonly state: WrapState;
  readonly plans: readonly ServerPlan[];
}

/** `assay wrap`: puts MCP servers of other clients under `assay sandbox`, or takes them out again. */
export async function run({ flags, rest }: Pick<ParsedCommand, 'flags' | 'rest'>): Promise<number> {
  await requirePolicy(flags);
  const plans = chooseFiles(flags).map((file) => planFile(file, flags, rest));
  requireKnown(
    rest,
    plans.flatMap(({ document }) => document.servers),
  );
  for (const plan of plans) process.stdout.write(renderPlan(plan));
  const changed = plans.filter(({ plans: own }) => own.some(({ kind }) => kind === 'edited'));
  if (changed.length === 0) {
    process.stdout.write('Nothing to change\n');
    return 0;
  }
  if (flags.has('dry-run')) return 0;
  if (!flags.has('yes') && !(await ask())) {
    process.stdout.write('Nothing was changed\n');
    return 1;
  }
  for (const plan of changed) writePlan(plan);
  process.stdout.write(`${changed.map(({ file }) => `Changed ${file}`).join('\n')}\n`);
  return 0;
}

/** A server that cannot start under its policy would be found out about much later, and somewhere else. */
async function requirePolicy(flags: FlagValues): Promise<void> {
  const quick = {
    allowRead: flags.list('allow-read'),
    allowWrite: flags.list('allow-write'),
    allowNet: flags.list('allow-net'),
  };
  const named = { policy: flags.text('policy'), preset: flags.text('preset'), quick };
  await loadRunPolicy(named, readVariables({}, readHostTree()));
}

function chooseFiles(flags: FlagValues): string[] {
  const file = flags.text('file');
  if (file !== undefined) return [resolve(file)];
  const client = flags.text('client') as ClientName | undefined;
  const found = findConfigFiles(client === undefined ? CLIENTS : [client]);
  if (found.length > 0) return found;
  throw new AssayError(
    'E_USAGE',
    client === undefined
      ? 'There is no configuration of an MCP client here'
      : `There is no configuration of ${client} here`,
    { hint: 'Name one with --file' },
  );
}

function planFile(file: string, flags: FlagValues, names: readonly string[]): FilePlan {
  const { text, target } = readConfig(file);
  const document = parseConfig(file, text);
  const state = new WrapState(target);
  const command = makeCommand(flags);
  const wanted = document.servers.filter(({ name }) => names.length === 0 || names.includes(name));
  const plans = wanted.map((entry) =>
    flags.has('undo')
      ? planUndo(document, entry, state.get(entry))
      : planWrap(document, entry, command),
  );
  return { file, document, state, plans };
}

function readConfig(file: string): { text: string; target: string } {
  try {
    const target = realpathSync(file);
    const bytes = readFileSync(target);
    const text = bytes.toString('utf8');
    if (!Buffer.from(text, 'utf8').equals(bytes)) throw new Error('it is not UTF-8');
    return { text, target };
  } catch (cause) {
    throw new AssayError('E_USAGE', `Cannot read "${file}": ${(cause as Error).message}`, {
      cause,
    });
  }
}

function parseConfig(file: string, text: string): ConfigDocument {
  try {
    return openConfig(file, text);
  } catch (cause) {
    throw new AssayError('E_USAGE', `Cannot read ${file}:${(cause as Error).message}`, { cause });
  }
}

/** A client has its own PATH and its own directory: every path is absolute. */
function makeCommand(flags: FlagValues): WrapCommand {
  const given = SANDBOX_FLAGS.flatMap((name) =>
    flags.list(name).flatMap((value) => {
      const isPath = name === 'policy' || name === 'allow-read' || name === 'allow-write';
      return [`--${name}`, isPath ? toAbsolute(value) : value];
    }),
  );
  return { program: distPath('../bin/assay.js'), flags: given };
}

/** What starts with a variable or with the home stands for itself. */
function toAbsolute(path: string): string {
  return /^(?:~|\$\{)/.test(path) ? path : resolve(path);
}

function requireKnown(names: readonly string[], servers: readonly ServerEntry[]): void {
  const known = servers.map(({ name }) => name);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const closest = findClosest(unknown, known);
  throw new AssayError(
    'E_USAGE',
    `There is no server ${JSON.stringify(unknown)}${closest === undefined ? '' : `, did you mean ${closest}?`}`,
    { hint: `There are: ${known.join(', ') || 'none'}` },
  );
}

function renderPlan({ file, document, plans }: FilePlan): string {
  const edits = plans.flatMap((plan) => (plan.kind === 'edited' ? plan.edits : []));
  const notes = plans.flatMap((plan) => {
    const { name, scope } = plan.entry;
    const shown = scope === undefined ? name : `${name} (${scope})`;
    const reason = plan.kind === 'left' ? `left as it is: ${plan.reason}` : plan.note;
    return reason === undefined ? [] : [`${toPrintable(`${shown}: ${reason}`)}\n`];
  });
  const diff = edits.length > 0 ? toPrintableLines(renderDiff(file, document.text, edits)) : '';
  const heading = plans.length === 0 ? `${file}: no servers\n` : `${file}:\n`;
  return (diff || heading) + notes.join('');
}

async function ask(): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stdout.isTTY)
    throw new AssayError('E_USAGE', 'There is no terminal to ask on', {
      hint: '--yes makes the changes, --dry-run only shows them',
    });
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return /^y(?:es)?$/i.test((await terminal.question('Make these changes? [y/N] ')).trim());
  } finally {
    terminal.close();
  }
}

/** First what an undo needs, then the change: the other way round, a change could be left that nothing undoes. */
function writePlan({ file, document, state, plans }: FilePlan): void {
  const edited = plans.flatMap((plan) => (plan.kind === 'edited' ? [plan] : []));
  for (const { entry, record } of edited) if (record) state.set(entry, record);
  state.save();
  replaceConfig(
    file,
    document.text,
    applyEdits(
      document.text,
      edited.flatMap(({ edits }) => edits),
    ),
  );
  const undone = edited.filter(({ record }) => !record);
  if (undone.length === 0) return;
  for (const { entry } of undone) state.delete(entry);
  state.save();
}
