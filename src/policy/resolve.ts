import { AssayError } from '../core/errors.ts';
import { collectDocuments, type PolicyFiles } from './extend.ts';
import { describePlace, placeOf, type PolicyDocument, toProblem } from './document.ts';
import { liftedBy } from './decide.ts';
import type { checkExamples } from './examples.ts';
import { expandEntry } from './expand.ts';
import { escapeLiteral } from './glob.ts';
import type { EnvRules, FsRight, FsRule, Limits, Policy, Variables } from './policy.ts';
import { DEFAULT_PRESET } from './presets.ts';
import { PolicyError, type PolicyProblem } from './problems.ts';
import type { toQuickNetRules } from './quick-net.ts';
import { mayNameConfig, PROTECTED_CONFIG, toConfigPattern } from './protected-config.ts';
import { toInjectRules, toNetRules } from './net-entries.ts';
import { makeSystemRules, SYSTEM_SOURCE } from './system-baseline.ts';
import { parseCount, parseDuration, parseSize } from './units.ts';

/** Rules from the command line. */
export interface QuickRules {
  readonly allowRead?: readonly string[] | undefined;
  readonly allowWrite?: readonly string[] | undefined;
  readonly deny?: readonly string[] | undefined;
  readonly allowUnix?: readonly string[] | undefined;
  readonly allowNet?: readonly string[] | undefined;
}

export interface ResolveInput {
  /** Without a file and a preset: the default preset. With a file alone, that file and the system baseline only. */
  readonly file?: string | undefined;
  readonly preset?: string | undefined;
  readonly quick?: QuickRules | undefined;
  readonly variables: Variables;
  /** Needed when `file` is given. */
  readonly files?: PolicyFiles | undefined;
  /** Needed when `file` or `quick.allowNet` is given. */
  readonly checks?: PolicyChecks | undefined;
}

/** What takes the grammar of hosts and addresses, which a run without a policy of its own does not load. */
export interface PolicyChecks {
  readonly checkExamples: typeof checkExamples;
  readonly toQuickNetRules: typeof toQuickNetRules;
}

type FsKey = 'allow' | 'read' | 'write' | 'exec' | 'deny' | 'protect';

/** What each list of `fs` stands for. To write or to execute without reading is of no use to a program. */
const FS_KEYS: Readonly<Record<FsKey, Pick<FsRule, 'effect' | 'rights'>>> = {
  allow: { effect: 'allow', rights: ['read', 'write', 'exec'] },
  read: { effect: 'allow', rights: ['read'] },
  write: { effect: 'allow', rights: ['read', 'write'] },
  exec: { effect: 'allow', rights: ['read', 'exec'] },
  deny: { effect: 'deny', rights: ['read', 'write', 'exec'] },
  protect: { effect: 'protect', rights: ['write'] },
};

const WRITING: readonly FsRight[] = ['write'];
const SOCKET_RIGHTS: readonly FsRight[] = ['read', 'write'];

/** Everything that has a say in one run, combined: lists append, single values override, deny beats allow. */
export function resolveRunPolicy(input: ResolveInput): Policy {
  const isDefault = input.file === undefined && input.preset === undefined;
  const preset = isDefault ? DEFAULT_PRESET : input.preset;
  const documents = collectDocuments({ ...input, preset });
  const rules = new RuleList(input.variables);
  rules.fs.push(...makeSystemRules(input.variables.tmpdir));
  for (const document of documents) rules.addDocument(document);
  rules.throwProblems();

  const policy = {
    name: input.file ?? preset ?? DEFAULT_PRESET,
    isDefault,
    net: documents.flatMap(toNetRules),
    inject: documents.flatMap(toInjectRules),
    env: mergeEnv(documents),
    limits: mergeLimits(documents),
  };
  const own = documents.flatMap((document) => toOwnRule(document, input.files));
  const withConfig = (fs: readonly FsRule[]): FsRule[] => [...fs, ...own, ...toConfigRules(fs)];
  // Examples speak about the documents. A flag is the word of whoever starts this one run.
  if (documents.some(({ data }) => data.tests !== undefined)) {
    requireChecks(input).checkExamples(
      { ...policy, fs: withConfig(rules.fs) },
      documents,
      input.variables,
    );
  }
  rules.addQuick(input.quick ?? {});
  rules.throwProblems();
  const allowNet = input.quick?.allowNet ?? [];
  const net =
    allowNet.length > 0
      ? [...policy.net, ...requireChecks(input).toQuickNetRules(allowNet)]
      : policy.net;
  return { ...policy, net, fs: withConfig(rules.fs), unix: rules.unix };
}

/** What cannot be checked is never taken as it is. */
function requireChecks({ checks }: ResolveInput): PolicyChecks {
  if (!checks) throw new AssayError('E_INTERNAL', 'The policy cannot be checked');
  return checks;
}

class RuleList {
  readonly fs: FsRule[] = [];
  readonly unix: FsRule[] = [];
  readonly #problems: PolicyProblem[] = [];
  readonly #variables: Variables;

  constructor(variables: Variables) {
    this.#variables = variables;
  }

  addDocument(document: PolicyDocument): void {
    for (const key of Object.keys(FS_KEYS) as FsKey[]) {
      this.#addList(document, `fs.${key}`, document.data.fs?.[key], FS_KEYS[key]);
    }
    const unix = { effect: 'allow', rights: SOCKET_RIGHTS } as const;
    this.#addList(document, 'unix.allow', document.data.unix?.allow, unix);
  }

  addQuick({ allowRead, allowWrite, deny, allowUnix }: QuickRules): void {
    this.addDocument({ name: '--allow-read', data: { fs: { read: allowRead ?? [] } } });
    this.addDocument({ name: '--allow-write', data: { fs: { write: allowWrite ?? [] } } });
    this.addDocument({ name: '--deny', data: { fs: { deny: deny ?? [] } } });
    this.addDocument({ name: '--allow-unix', data: { unix: { allow: allowUnix ?? [] } } });
  }

  throwProblems(): void {
    if (this.#problems.length > 0) throw new PolicyError(this.#problems);
  }

  #addList(
    document: PolicyDocument,
    key: string,
    entries: readonly string[] | undefined,
    rule: Pick<FsRule, 'effect' | 'rights'>,
  ): void {
    const isNameAnywhere = rule.effect !== 'allow';
    for (const [index, text] of (entries ?? []).entries()) {
      const expansion = expandEntry(text, { variables: this.#variables, isNameAnywhere });
      const place = `${key}.${index}`;
      if ('problem' in expansion) {
        this.#problems.push(toProblem(document, place, expansion));
        continue;
      }
      const origin = {
        source: describePlace(document, place),
        key,
        text,
        at: placeOf(document, place),
      };
      const list = key === 'unix.allow' ? this.unix : this.fs;
      list.push(...expansion.patterns.map((pattern) => ({ ...rule, pattern, origin })));
    }
  }
}

/**
 * Configuration protection. Where a rule lifts it by naming a place at or below the protected name, it comes back
 * for the same name further down: a workspace inside some `.claude` directory still has its own `.claude` protected.
 */
function toConfigRules(fs: readonly FsRule[]): FsRule[] {
  // The baseline names no configuration.
  const writable = fs.filter(
    ({ effect, rights, pattern, origin }) =>
      effect === 'allow' &&
      origin.source !== SYSTEM_SOURCE &&
      rights.includes('write') &&
      mayNameConfig(pattern),
  );
  const rules: FsRule[] = [];
  for (const name of PROTECTED_CONFIG) {
    const origin = { source: 'configuration protection', key: 'config', text: name };
    const rule: FsRule = {
      effect: 'config',
      rights: WRITING,
      pattern: toConfigPattern(name),
      origin,
    };
    rules.push(rule);
    if (writable.length === 0) continue;
    const below = new Set(liftedBy(rule, writable).map((lift) => lift.pattern + rule.pattern));
    for (const pattern of below) rules.push({ ...rule, pattern });
  }
  return rules;
}

/** A run must not rewrite the policy of the next one. */
function toOwnRule(document: PolicyDocument, files: PolicyFiles | undefined): FsRule[] {
  if (!document.file || !files) return [];
  const path = files.locate(document.file.path);
  return [
    {
      effect: 'config',
      rights: ['write'],
      pattern: escapeLiteral(path),
      origin: { source: 'configuration protection', key: 'config', text: path, isOfHost: true },
    },
  ];
}

function mergeEnv(documents: readonly PolicyDocument[]): EnvRules {
  const merged = { mode: 'scrub' as EnvRules['mode'], isExecStripped: true, isPathSafe: false };
  const allow: string[] = [];
  const deny: string[] = [];
  let set: Record<string, string> = {};
  for (const { data } of documents) {
    merged.mode = data.env?.mode ?? merged.mode;
    merged.isExecStripped = data.env?.strip_exec ?? merged.isExecStripped;
    merged.isPathSafe = data.env?.safe_path ?? merged.isPathSafe;
    allow.push(...(data.env?.allow ?? []));
    deny.push(...(data.env?.deny ?? []));
    set = { ...set, ...data.env?.set };
  }
  return { ...merged, allow, deny, set };
}

function mergeLimits(documents: readonly PolicyDocument[]): Limits {
  const limits = Object.assign({}, ...documents.map(({ data }) => data.limits)) as NonNullable<
    PolicyDocument['data']['limits']
  >;
  const read = (
    parse: (value: string | number) => number | undefined,
    value: string | number | undefined,
  ): number | undefined => (value === undefined ? undefined : parse(value));
  return {
    timeoutMs: read(parseDuration, limits.timeout),
    cpuMs: read(parseDuration, limits.cpu),
    memoryBytes: read(parseSize, limits.memory),
    pids: read(parseCount, limits.pids),
    diskBytes: read(parseSize, limits.disk),
    files: read(parseCount, limits.files),
    openFiles: read(parseCount, limits.open_files),
  };
}
