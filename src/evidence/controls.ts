import type { ChangeSet } from './changes.ts';
import type { Control, Controls, Entries, EvidenceContent, RefusalEntry } from './evidence.ts';
import { makeProtectedPaths } from './protected-path.ts';

export type ControlsInput = Pick<
  EvidenceContent,
  | 'mode'
  | 'network'
  | 'refusals'
  | 'entries'
  | 'changes'
  | 'sandbox_degradations'
  | 'layers'
  | 'coverage'
>;

const NETWORK_OPS: readonly string[] = ['connect', 'bind', 'resolve'];

/** Operations that change nothing. */
const QUIET_OPS: ReadonlySet<string> = new Set(['read', 'exec', ...NETWORK_OPS]);

/** In a directory that is git's by its name, which is kept in mind; the guard of the broker knows the others as well. */
const GIT_CONFIG = /^(.*\.git(?:\/modules\/.+|\/worktrees\/[^/]+)?)\/config(?:\.worktree)?$/s;

const LOOPBACK = /^\w+:(?:127(?:\.\d{1,3}){3}(?=:|$)|\[::1\]|\[::ffff:127\.)/;

/** The three questions that a reviewer asks first: what got out, what was written, what will run later. */
export function makeControls(input: ControlsInput): Controls {
  const { refusals, coverage } = input;
  const changed = listChanged(input.changes);
  const configuration = findConfiguration(changed);
  return {
    egress: judge(input, {
      reasons: explainEgress(input),
      isOpen: input.network === 'host',
      used: listConnections(input.entries),
      refusals: refusals.filter(({ op }) => NETWORK_OPS.includes(op)),
      coverage: coverage.network.status,
    }),
    writes: judge(input, {
      reasons: explainWrites(input),
      isOpen: !hasLayer(input, ['landlock', 'mount', 'broker']),
      used: [...new Set(changed.map(areaOf))].sort(),
      refusals: refusals.filter(({ op }) => !QUIET_OPS.has(op)),
      coverage: coverage.changes.status,
    }),
    configuration: judge(input, {
      reasons: explainConfiguration(input),
      isOpen: !hasLayer(input, ['mount', 'broker']),
      used: configuration,
      refusals: refusals.filter(isAboutConfiguration),
      coverage: coverage.changes.status,
    }),
  };
}

export function listChanged(changes: ChangeSet): string[] {
  const { created, modified, removed, attributes } = changes;
  return [...created, ...modified, ...removed, ...attributes];
}

/** Those that are protected unless a policy names them; of a repository that the run has made, its configuration is not. */
export function findConfiguration(paths: readonly string[]): string[] {
  const known = makeProtectedPaths();
  const isBorn = (dir: string): boolean => paths.includes(`${dir}/`);
  return paths
    .filter((path) => {
      const gitDir = GIT_CONFIG.exec(path)?.[1];
      return gitDir === undefined
        ? known.find(path.replace(/\/$/, '')) !== undefined
        : !isBorn(gitDir);
    })
    .sort();
}

export function isAboutConfiguration({ rule }: RefusalEntry): boolean {
  return /^(?:git-guard|configuration protection)\b/.test(rule ?? '');
}

export function isLoopback(endpoint: string): boolean {
  return LOOPBACK.test(endpoint);
}

/** Endpoints that were really connected to. Sockets in the private tmp are the run's own, and abstract names that it bound. */
export function listConnections({ network }: Entries): string[] {
  const isOwn = (endpoint: string, ops: Entries['network'][string]): boolean =>
    endpoint.startsWith('unix:${TMPDIR}') ||
    (endpoint.startsWith('unix:@') && ops['bind']?.['ok'] !== undefined);
  return Object.entries(network)
    .filter(([endpoint, ops]) => isConnected(ops) && !isOwn(endpoint, ops))
    .map(([endpoint]) => endpoint);
}

export function isConnected(ops: Entries['network'][string]): boolean {
  const outcomes = Object.keys(ops['connect'] ?? {});
  return outcomes.includes('ok') || outcomes.includes('unknown');
}

interface Case {
  readonly reasons: readonly string[];
  readonly isOpen: boolean;
  readonly used: readonly string[];
  readonly refusals: readonly RefusalEntry[];
  readonly coverage: string;
}

function judge({ mode }: ControlsInput, one: Case): Control {
  const { used, coverage } = one;
  const refused = one.refusals.length;
  const base = { used, refused, coverage };
  if (mode === 'dry-run')
    return { verdict: 'not enforced', reasons: ['a dry run blocks nothing'], ...base };
  const { reasons } = one;
  if (one.isOpen) return { verdict: 'not enforced', reasons, ...base };
  if (reasons.length > 0) return { verdict: 'partly enforced', reasons, ...base };
  return { verdict: refused > 0 ? 'refused attempts' : 'held', reasons, ...base };
}

function hasLayer({ layers }: ControlsInput, names: readonly string[]): boolean {
  return layers.some(({ layer, status }) => names.includes(layer) && status !== 'absent');
}

function explain({ sandbox_degradations }: ControlsInput, isMeant: RegExp): string[] {
  return sandbox_degradations
    .filter(({ rule }) => isMeant.test(rule))
    .map(({ rule, reason }) => `${rule}: ${reason}`);
}

function explainEgress(input: ControlsInput): string[] {
  if (input.network === 'host') return ['the policy allows the whole network'];
  return explain(input, /^(?:network|net\b|unix\b)/);
}

function explainWrites(input: ControlsInput): string[] {
  const reasons = explain(input, /^fs\b/);
  const isOpen = !hasLayer(input, ['landlock', 'mount', 'broker']);
  return isOpen ? [...reasons, 'no layer that bounds writing is in force'] : reasons;
}

function explainConfiguration(input: ControlsInput): string[] {
  const reasons = explain(input, /^configuration protection/);
  const isOpen = !hasLayer(input, ['mount', 'broker']);
  return isOpen ? [...reasons, 'no layer that protects configuration is in force'] : reasons;
}

/** The workspace as a whole; elsewhere, the first two names. */
export function areaOf(path: string): string {
  if (path.startsWith('${CWD}') && !path.startsWith('${CWD}/..')) return '${CWD}';
  const [first = '', second = '', third = ''] = path.split('/');
  return first === '' ? `/${second}${third && `/${third}`}` : `${first}${second && `/${second}`}`;
}
