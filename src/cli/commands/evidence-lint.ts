import { AtomicFile } from '../../artifacts/atomic-file.ts';
import { renderLintJson, renderRuleJson } from '../../artifacts/lint-json.ts';
import { renderLintText, renderRuleText } from '../../artifacts/lint-text.ts';
import { renderSarif } from '../../artifacts/sarif.ts';
import { AssayError } from '../../core/errors.ts';
import {
  type FailOn,
  type LintedPack,
  type LintResult,
  makeResult,
} from '../../evidence/lint/lint-result.ts';
import { Linter } from '../../evidence/lint/linter.ts';
import type { LoadedPack } from '../../evidence/lint/pack-detector.ts';
import { OWN_PACK, type RuleInfo } from '../../evidence/lint/rule.ts';
import { DETECTORS, OWN_RULES } from '../../evidence/lint/rules.ts';
import { findClosest } from '../../policy/did-you-mean.ts';
import { nameBundle, scanBundle } from '../bundle-file.ts';
import { loadPacks } from '../find-pack.ts';
import type { FlagValues } from '../flag-values.ts';
import type { ParsedCommand } from '../parse.ts';
import { VERSION } from '../version.ts';

const DEFAULT_MAX_RESULTS = 500;
const MAX_MAX_RESULTS = 100_000;

/** `assay evidence lint`: what a reviewer should see in a bundle. */
export async function run({ flags, rest }: Pick<ParsedCommand, 'flags' | 'rest'>): Promise<number> {
  const packs = loadPacks(flags.list('pack'));
  const wanted = flags.text('explain');
  if (wanted !== undefined) {
    const rule = findRule(wanted, packs);
    const isJson = flags.text('format') === 'json';
    await write(flags, () => (isJson ? renderRuleJson(rule) : renderRuleText(rule)));
    return 0;
  }
  const [bundle] = rest;
  if (bundle === undefined)
    throw new AssayError('E_USAGE', 'No bundle is named', {
      hint: 'Name a bundle, or - for standard input; --explain RULE needs none',
    });
  const maxResults = readMaxResults(flags);
  let code = 0;
  await write(flags, async () => {
    const result = await lint({ bundle, packs, maxResults, failOn: readFailOn(flags) });
    code = result.hasFailed ? 1 : 0;
    return render(flags, result);
  });
  return code;
}

interface LintInput {
  readonly bundle: string;
  readonly packs: readonly LoadedPack[];
  readonly maxResults: number;
  readonly failOn: FailOn;
}

async function lint(input: LintInput): Promise<LintResult> {
  const { bundle, packs, maxResults, failOn } = input;
  const linter = new Linter([...DETECTORS, ...packs.map(({ detector }) => detector)]);
  const { manifest, kind, sha256 } = await scanBundle(bundle, {
    onManifest: (seen) => linter.onManifest(seen),
    onEvent: (event, line) => linter.onEvent(event, line),
  });
  const own: LintedPack = { id: OWN_PACK, rules: OWN_RULES, skipped: [] };
  return makeResult({
    file: nameBundle(bundle),
    version: VERSION,
    manifest,
    kind,
    sha256,
    packs: [own, ...packs.map(({ linted }) => linted)],
    findings: linter.finish(),
    maxResults,
    failOn,
  });
}

function render(flags: FlagValues, result: LintResult): string {
  switch (flags.text('format')) {
    case 'json':
      return renderLintJson(result);
    case 'sarif':
      return renderSarif(result);
    default:
      return renderLintText(result);
  }
}

/** To the file of --output, which is tried before the work and not touched unless all of it went well. */
async function write(flags: FlagValues, makeText: () => string | Promise<string>): Promise<void> {
  const output = flags.text('output');
  if (output === undefined) {
    process.stdout.write(await makeText());
    return;
  }
  const file = new AtomicFile(output, 'the findings');
  try {
    file.write([await makeText()]);
  } finally {
    file.close();
  }
}

function readFailOn(flags: FlagValues): FailOn {
  const level = flags.text('fail-on') ?? 'error';
  return (level === 'warn' ? 'warning' : level) as FailOn;
}

function readMaxResults(flags: FlagValues): number {
  const text = flags.text('max-results');
  if (text === undefined) return DEFAULT_MAX_RESULTS;
  const count = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= MAX_MAX_RESULTS) return count;
  throw new AssayError('E_USAGE', `"${text}" is not a number of findings`, {
    hint: `--max-results takes 1 to ${MAX_MAX_RESULTS}`,
  });
}

/** By its id, in any case; a rule of a pack also by the id that it has inside. */
function findRule(wanted: string, packs: readonly LoadedPack[]): RuleInfo {
  const rules = [...OWN_RULES, ...packs.flatMap(({ detector }) => detector.rules)];
  const name = wanted.toLowerCase();
  const found = rules.filter(
    ({ id }) => id.toLowerCase() === name || id.toLowerCase().endsWith(`:${name}`),
  );
  const [rule] = found;
  if (rule && found.length === 1) return rule;
  if (rule)
    throw new AssayError('E_USAGE', `Several rules are called "${wanted}"`, {
      hint: `Name one of ${found.map(({ id }) => id).join(', ')}`,
    });
  const closest = findClosest(
    wanted,
    rules.map(({ id }) => id),
  );
  throw new AssayError('E_USAGE', `There is no rule "${wanted}"`, {
    hint:
      closest === undefined
        ? 'docs/evidence-lint.md lists the rules; those of a pack need --pack'
        : `Did you mean ${closest}?`,
  });
}
