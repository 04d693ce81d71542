import { hasCredential } from '../core/redact.ts';
import { isSecretName } from '../core/secret-names.ts';
import type { EnvRules } from '../policy/policy.ts';
import {
  EXEC_BEGINNINGS,
  EXEC_ENDINGS,
  EXEC_FAMILIES,
  EXEC_NAMES,
  SAFE_FAMILIES,
  SAFE_NAMES,
  SECRET_BEGINNINGS,
  SECRET_ENDINGS,
  SECRET_FAMILIES,
  SECRET_NAMES,
} from './environment-lists.ts';

/** What the program gets and what was kept from it. Values stand in `env` only, never in a list or in the banner. */
export interface FilteredEnvironment {
  readonly env: readonly (readonly [name: string, value: string])[];
  readonly passed: readonly string[];
  /** Removed as secret, as a door to a program outside, by `env.deny`, or in strict mode as unknown. */
  readonly scrubbed: readonly string[];
  /** Removed since it would steer which code runs. */
  readonly stripped: readonly string[];
  /** Steers which code runs, and was let through. */
  readonly allowedExec: readonly string[];
  readonly banner: string;
}

const SAFE_PATH = '/usr/bin:/bin';

/** Paths that every program knows anyway; a directory that looks like a token must not cost the user PATH or HOME. */
const IS_PATH: ReadonlySet<string> = new Set(['PATH', 'HOME', 'PWD', 'OLDPWD', 'TMPDIR']);

type Verdict = 'pass' | 'scrub' | 'strip';

/** Decides on each variable. `set` comes last: what the policy sets is there, whatever was removed under that name. */
export function filterEnvironment({
  env,
  rules,
}: {
  env: Readonly<Record<string, string>>;
  rules: EnvRules;
}): FilteredEnvironment {
  const kept = new Map<string, string>();
  const scrubbed: string[] = [];
  const stripped: string[] = [];
  for (const name of Object.keys(env)) {
    const value = env[name];
    if (value === undefined || !isValid(name, value)) continue;
    const verdict = judge(name, value, rules);
    if (verdict === 'pass') kept.set(name, value);
    else (verdict === 'scrub' ? scrubbed : stripped).push(name);
  }
  for (const [name, value] of Object.entries(rules.set)) {
    if (isValid(name, value)) kept.set(name, value);
  }
  if (rules.mode !== 'passthrough') securePath(kept, rules.isPathSafe);

  const sorted = [...kept].sort(([a], [b]) => (a < b ? -1 : 1));
  const passed = sorted.map(([name]) => name);
  const lists = {
    passed,
    scrubbed: scrubbed.sort(),
    stripped: stripped.sort(),
    allowedExec: sorted.filter(([name, value]) => steersExecution(name, value)).map(([n]) => n),
  };
  return { env: sorted, ...lists, banner: describe(rules.mode, lists) };
}

function judge(name: string, value: string, rules: EnvRules): Verdict {
  if (rules.mode === 'passthrough') return 'pass';
  const upper = name.toUpperCase();
  if (rules.deny.length > 0 && rules.deny.some((rule) => matches(rule.toUpperCase(), upper))) {
    return 'scrub';
  }
  if (rules.allow.length > 0 && rules.allow.some((rule) => matches(rule, name))) return 'pass';
  const isStrict = rules.mode === 'strict';
  if ((rules.isExecStripped || isStrict) && steersExecution(name, value)) return 'strip';
  if (!IS_PATH.has(upper) && hasCredential(value)) return 'scrub';
  if (SAFE_NAMES.has(upper)) return 'pass';
  if (isSecret(upper)) return 'scrub';
  return isStrict && !SAFE_FAMILIES.has(familyOf(upper)) ? 'scrub' : 'pass';
}

/** An exact name, or a beginning when the rule ends in `*`. */
function matches(rule: string, name: string): boolean {
  return rule.endsWith('*') ? name.startsWith(rule.slice(0, -1)) : name === rule;
}

function isSecret(upper: string): boolean {
  return (
    SECRET_NAMES.has(upper) ||
    SECRET_FAMILIES.has(familyOf(upper)) ||
    SECRET_ENDINGS.some((ending) => upper.endsWith(ending)) ||
    SECRET_BEGINNINGS.some((beginning) => upper.startsWith(beginning)) ||
    isSecretName(upper)
  );
}

function steersExecution(name: string, value: string): boolean {
  const upper = name.toUpperCase();
  if (SAFE_NAMES.has(upper)) return false;
  return (
    EXEC_NAMES.has(upper) ||
    EXEC_FAMILIES.has(familyOf(upper)) ||
    EXEC_BEGINNINGS.some((beginning) => upper.startsWith(beginning)) ||
    EXEC_ENDINGS.some((ending) => upper.endsWith(ending)) ||
    // How old shells export a function, under any name.
    value.startsWith('() {')
  );
}

/** What stands before the first `_`; empty when there is none. */
function familyOf(upper: string): string {
  const end = upper.indexOf('_');
  return end > 0 ? upper.slice(0, end) : '';
}

/**
 * Relative and empty entries mean "below where the program stands", which is the workspace: a file `ls` planted there
 * would run in place of the real one. So they go in every mode but passthrough. An empty PATH would mean the same.
 */
function securePath(env: Map<string, string>, isPathSafe: boolean): void {
  const path = env.get('PATH');
  if (isPathSafe) env.set('PATH', SAFE_PATH);
  else if (path !== undefined) {
    const absolute = path.split(':').filter((entry) => entry.startsWith('/'));
    env.set('PATH', absolute.join(':') || SAFE_PATH);
  }
}

/** No other name or value can be in an environment: `execve` takes `name=value` up to a NUL. */
function isValid(name: string, value: string): boolean {
  return name !== '' && !name.includes('=') && !name.includes('\0') && !value.includes('\0');
}

const MODE_TEXTS = { scrub: 'scrubbed', strict: 'strict', passthrough: '⚠ passthrough' } as const;

function describe(
  mode: EnvRules['mode'],
  lists: Pick<FilteredEnvironment, 'passed' | 'scrubbed' | 'stripped' | 'allowedExec'>,
): string {
  const { passed, scrubbed, stripped, allowedExec } = lists;
  let text = `${MODE_TEXTS[mode]} (${passed.length} passed, ${scrubbed.length} removed)`;
  if (stripped.length > 0) text += `, exec-influence stripped: ${stripped.length}`;
  if (allowedExec.length > 0) text += `, ⚠ exec-influence ALLOWED: ${allowedExec.join(', ')}`;
  if (mode === 'passthrough') text += ', DANGER';
  return text;
}
