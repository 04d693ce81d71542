import { hasCredential } from '../core/secret-shapes.ts';
import { findSecretNames } from '../core/secret-names.ts';
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

interface Variable {
  readonly name: string;
  /** The name in capitals. */
  readonly upper: string;
  readonly isSteering: boolean;
  readonly isSecret: boolean;
}

/** Decides on each variable. `set` comes last: what the policy sets is there, whatever was removed under that name. */
export function filterEnvironment({
  env,
  rules,
  withheld,
}: {
  env: Readonly<Record<string, string>>;
  rules: EnvRules;
  /** Never passed, whatever the rules say: what is in them is added to requests outside. */
  withheld?: ReadonlySet<string> | undefined;
}): FilteredEnvironment {
  const kept = new Map<string, string>();
  const lists = { scrubbed: [] as string[], stripped: [] as string[], allowedExec: [] as string[] };
  for (const variable of classify(env)) {
    const verdict = withheld?.has(variable.name) ? 'scrub' : judge(variable, rules);
    if (verdict === 'scrub') lists.scrubbed.push(variable.name);
    else if (verdict === 'strip') lists.stripped.push(variable.name);
    else {
      kept.set(variable.name, env[variable.name] ?? '');
      if (variable.isSteering) lists.allowedExec.push(variable.name);
    }
  }
  for (const { name, isSteering } of classify(rules.set)) {
    if (isSteering && !kept.has(name)) lists.allowedExec.push(name);
    kept.set(name, rules.set[name] ?? '');
  }
  if (rules.mode !== 'passthrough') securePath(kept, rules.isPathSafe);

  const passed = [...kept.keys()].sort();
  for (const list of Object.values(lists)) list.sort();
  return {
    env: passed.map((name) => [name, kept.get(name) ?? '']),
    passed,
    ...lists,
    banner: describe(rules.mode, { ...lists, passed }),
  };
}

/**
 * What each variable could do. All at once: assay has just started and its code still runs slowly, so the entries of
 * the lists that occur at all, and whether any value looks like a credential, are found in one text of them all.
 */
function classify(env: Readonly<Record<string, string>>): Variable[] {
  const names = Object.keys(env).filter((name) => isValid(name, env[name]));
  const secrets = findSecretNames(names);
  const hasAnyCredential = hasCredential(names.map((name) => env[name]).join('\n'));
  const text = names.join('\n').toUpperCase();
  const occurs = (entry: string): boolean => text.includes(entry);
  const exec = { beginnings: EXEC_BEGINNINGS.filter(occurs), endings: EXEC_ENDINGS.filter(occurs) };
  const doors = {
    beginnings: SECRET_BEGINNINGS.filter(occurs),
    endings: SECRET_ENDINGS.filter(occurs),
  };
  return names.map((name) => {
    const upper = name.toUpperCase();
    const value = env[name] ?? '';
    const isSafe = SAFE_NAMES.has(upper);
    const family = familyOf(upper);
    return {
      name,
      upper,
      isSteering:
        // How old shells export a function, under any name.
        value.startsWith('() {') ||
        (!isSafe && (EXEC_NAMES.has(upper) || EXEC_FAMILIES.has(family) || hasAffix(upper, exec))),
      isSecret:
        (hasAnyCredential && !IS_PATH.has(upper) && hasCredential(value)) ||
        (!isSafe &&
          (SECRET_NAMES.has(upper) ||
            SECRET_FAMILIES.has(family) ||
            hasAffix(upper, doors) ||
            secrets.has(name))),
    };
  });
}

function hasAffix(
  upper: string,
  { beginnings, endings }: { beginnings: readonly string[]; endings: readonly string[] },
): boolean {
  return (
    beginnings.some((beginning) => upper.startsWith(beginning)) ||
    endings.some((ending) => upper.endsWith(ending))
  );
}

function judge({ name, upper, isSteering, isSecret }: Variable, rules: EnvRules): Verdict {
  if (rules.mode === 'passthrough') return 'pass';
  if (rules.deny.some((rule) => matches(rule.toUpperCase(), upper))) return 'scrub';
  if (rules.allow.some((rule) => matches(rule, name))) return 'pass';
  const isStrict = rules.mode === 'strict';
  if (isSteering && (rules.isExecStripped || isStrict)) return 'strip';
  if (isSecret) return 'scrub';
  const isBase = SAFE_NAMES.has(upper) || SAFE_FAMILIES.has(familyOf(upper));
  return isStrict && !isBase ? 'scrub' : 'pass';
}

/** An exact name, or a beginning when the rule ends in `*`. */
function matches(rule: string, name: string): boolean {
  return rule.endsWith('*') ? name.startsWith(rule.slice(0, -1)) : name === rule;
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
function isValid(name: string, value: string | undefined): boolean {
  if (value === undefined) return false;
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
