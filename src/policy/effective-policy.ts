import { canonicalJson } from '../core/canonical-json.ts';
import { sha256Hex } from '../core/digest.ts';
import { redactPath } from '../core/redact.ts';
import { expandEntry } from './expand.ts';
import { escapeLiteral } from './glob.ts';
import type { FsRule, InjectRule, Limits, NetRule, Origin, Policy, Variables } from './policy.ts';
import { toConfigPattern } from './protected-config.ts';
import { formatInstant } from './rule-end.ts';

export interface EffectiveRule {
  readonly effect: string;
  readonly rights: readonly string[];
  /** As in {@link FsRule}, but with `${CWD}`, `${HOME}`, `${TMPDIR}` and `${USER}` left as they are. */
  readonly pattern: string;
  /** The list that it stands in, and the entry there. */
  readonly key: string;
  readonly text: string;
}

export interface EffectiveNetRule {
  readonly effect: string;
  /** A set by its name: what it stands for is a matter of the host, or of this version. */
  readonly text: string;
  readonly methods?: readonly string[];
  readonly paths?: readonly string[];
  readonly tls?: true;
  readonly until?: string;
  readonly for_ms?: number;
}

export interface EffectiveInjection {
  readonly host: string;
  readonly header: string;
  /** The name of the variable, or of the program; arguments may be secrets. */
  readonly env?: string;
  readonly command?: string;
  readonly tls: boolean;
}

/**
 * The policy of a run, everything merged, in a form that is the same wherever the policy lies and whoever loads it: free
 * of the machine, the user, the order of keys and the places in files. Rules that assay finds on the machine are not in
 * it.
 */
export interface EffectivePolicy {
  readonly schema: typeof SCHEMA;
  readonly fs: readonly EffectiveRule[];
  readonly unix: readonly EffectiveRule[];
  readonly net: readonly EffectiveNetRule[];
  /** Only where there are any. */
  readonly inject?: readonly EffectiveInjection[];
  readonly env: {
    readonly mode: string;
    readonly strip_exec: boolean;
    readonly safe_path: boolean;
    readonly allow: readonly string[];
    readonly deny: readonly string[];
    /** Names; values may be secrets. */
    readonly set: Readonly<Record<string, typeof NOT_RECORDED>>;
  };
  readonly limits: Readonly<Record<string, number>>;
}

const SCHEMA = 'assay.effective-policy.v1';
const NOT_RECORDED = '[not recorded]';

/** Stands before names that no path has, so that what a variable became can be told from what was written out. */
const MARK = '\uE000';
const SYMBOLS: Variables = {
  cwd: `/${MARK}CWD`,
  home: `/${MARK}HOME`,
  tmpdir: `/${MARK}TMPDIR`,
  user: `${MARK}USER`,
};

/** `sha256:` of the canonical JSON of {@link makeEffectivePolicy}. */
export function effectivePolicyDigest(policy: Policy, variables: Variables): string {
  return digestEffectivePolicy(makeEffectivePolicy(policy, variables));
}

export function digestEffectivePolicy(effective: EffectivePolicy): string {
  return `sha256:${sha256Hex(canonicalJson(effective))}`;
}

export function makeEffectivePolicy(policy: Policy, variables: Variables): EffectivePolicy {
  const { env } = policy;
  const toRules = (rules: readonly FsRule[]): EffectiveRule[] =>
    sortUnique(
      rules
        .filter(({ origin }) => origin.isOfHost !== true)
        .flatMap((rule) => generaliseRule(rule, variables)),
    );
  return {
    schema: SCHEMA,
    fs: toRules(policy.fs),
    unix: toRules(policy.unix),
    net: sortUnique(policy.net.map(toEffectiveNet)),
    ...(policy.inject.length > 0 && { inject: sortUnique(policy.inject.map(toInjection)) }),
    env: {
      mode: env.mode,
      strip_exec: env.isExecStripped,
      safe_path: env.isPathSafe,
      allow: sortUnique(env.allow.map(cleanText)),
      deny: sortUnique(env.deny.map(cleanText)),
      set: Object.fromEntries(Object.keys(env.set).map((name) => [cleanText(name), NOT_RECORDED])),
    },
    limits: nameLimits(policy.limits),
  };
}

function toEffectiveNet(rule: NetRule): EffectiveNetRule {
  const { effect, text, http, isTlsOpened, expiresAtMs, lastsMs } = rule;
  const { methods, paths } = http ?? {};
  return {
    effect,
    text: cleanText(text),
    ...(methods && { methods: methods.toSorted() }),
    ...(paths && { paths: paths.map(cleanText).toSorted() }),
    ...(isTlsOpened === true && { tls: true as const }),
    ...(expiresAtMs !== undefined && { until: formatInstant(expiresAtMs) }),
    ...(lastsMs !== undefined && { for_ms: lastsMs }),
  };
}

function toInjection({ text, header, from, isTlsOpened }: InjectRule): EffectiveInjection {
  const by =
    from.env === undefined ? { command: redactPath(from.command[0] ?? '') } : { env: from.env };
  return { host: text, header: header.toLowerCase(), ...by, tls: isTlsOpened };
}

/** What the place of the user's own programs adds: it may be read and executed. */
export function listToolchain({ fs }: Pick<Policy, 'fs'>, variables: Variables): string[] {
  const found = fs.filter(({ effect, origin }) => origin.isOfHost === true && effect === 'allow');
  return sortUnique(found.map(({ pattern }) => cleanText(generaliseText(pattern, variables))));
}

/** From what was written and not from what it means here: a policy that names `/home/me` does so for everybody. */
function generaliseRule({ effect, rights, origin }: FsRule, variables: Variables): EffectiveRule[] {
  const { key } = origin;
  const text = isFlag(origin) ? generaliseText(origin.text, variables) : origin.text;
  const rule = { effect, rights: rights.toSorted(), key, text: cleanText(text) };
  return listPatterns(effect, text).map((pattern) => ({ ...rule, pattern: cleanText(pattern) }));
}

function listPatterns(effect: FsRule['effect'], text: string): readonly string[] {
  if (effect === 'config') return [toConfigPattern(text)];
  // What lies above a variable has no name of its own.
  if (text.split('/').includes('..')) return [text];
  const expansion = expandEntry(text, { variables: SYMBOLS, isNameAnywhere: effect !== 'allow' });
  if ('problem' in expansion) return [text];
  return expansion.patterns.map((pattern) =>
    pattern.replaceAll(/\/?\uE000(CWD|HOME|TMPDIR|USER)/g, (whole, name: string) =>
      name === 'USER' && whole.startsWith('/') ? `/\${${name}}` : `\${${name}}`,
    ),
  );
}

/** A shell has put the real place where somebody else has another one. */
function generaliseText(text: string, { cwd, tmpdir, home }: Variables): string {
  const places: [string, string][] = [
    ['${CWD}', cwd],
    ['${TMPDIR}', tmpdir],
    ['${HOME}', home],
  ];
  for (const [name, place] of places)
    for (const value of [place, escapeLiteral(place)])
      if (value !== '/' && (text === value || text.startsWith(`${value}/`)))
        return name + text.slice(value.length);
  return text;
}

/** Without secrets, and without halves of characters, which an escape in a file can make and JSON cannot hold. */
function cleanText(text: string): string {
  return redactPath(/\p{Surrogate}/u.test(text) ? Buffer.from(text).toString() : text);
}

function isFlag({ source, at }: Origin): boolean {
  return at === undefined && source.startsWith('--');
}

function nameLimits(limits: Limits): Record<string, number> {
  const { timeoutMs, cpuMs, memoryBytes, pids, diskBytes, files, openFiles } = limits;
  const named = {
    timeout_ms: timeoutMs,
    cpu_ms: cpuMs,
    memory_bytes: memoryBytes,
    pids,
    disk_bytes: diskBytes,
    files,
    open_files: openFiles,
  };
  return Object.fromEntries(
    Object.entries(named).filter((entry): entry is [string, number] => entry[1] !== undefined),
  );
}

function sortUnique<T extends string | object>(values: readonly T[]): T[] {
  const keyed = new Map(values.map((value) => [canonicalJson(value), value]));
  return [...keyed].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value);
}
