import { isConnected, isLoopback } from '../evidence/controls.ts';
import type { Evidence } from '../evidence/evidence.ts';
import { filterEnvironment } from '../plan/environment.ts';
import { HOST_LOOPBACK } from '../plan/host-ports.ts';
import type { PolicyData } from '../policy/document.ts';
import { escapeLiteral } from '../policy/glob.ts';
import { parseHostPort } from '../policy/host.ts';
import { formatEntry } from '../policy/net-target.ts';
import { chooseGrants, EXEC, type GrantChoice, READ, WRITE } from './policy-grants.ts';
import { measureTightness, type Tightness } from './policy-tightness.ts';
import type { ArtifactFormat } from './serialise.ts';
import { quoteYaml } from './yaml-text.ts';

export interface Suggestion {
  readonly text: string;
  readonly policy: PolicyData;
  readonly tightness: Tightness;
}

type FsLists = { readonly [Key in 'read' | 'write' | 'exec' | 'allow']?: readonly string[] };

/** The policy under which runs like these pass, and little else. Refused attempts are not granted. */
export function suggestPolicy(
  evidence: Evidence | readonly Evidence[],
  format: ArtifactFormat = 'yaml',
): Suggestion {
  const runs: readonly Evidence[] = 'length' in evidence ? evidence : [evidence];
  const needs = runs.map(({ run }) => run.needs);
  const choice = chooseGrants(needs);
  const configuration = unite(needs.map((one) => one.configuration)).map(toEntry);
  const fs = listGrants(choice, configuration);
  const unix = unite(needs.map((one) => one.unix)).map(toEntry);
  const env = findAllowedNames(runs);
  const network = findDestinations(runs);
  const policy: PolicyData = {
    api_version: 'assay/v1',
    ...(Object.keys(fs).length > 0 && { fs }),
    ...(network.allow.length > 0 && { net: { allow: network.allow } }),
    ...(unix.length > 0 && { unix: { allow: unix } }),
    ...(env.length > 0 && { env: { allow: env } }),
  };
  const tightness = measureTightness(runs, choice);
  if (format === 'json') return { text: `${JSON.stringify(policy, null, 2)}\n`, policy, tightness };
  const comments = makeComments(runs, { choice, network, configuration, tightness });
  return { text: toYaml(policy, comments), policy, tightness };
}

function unite(lists: readonly (readonly string[])[]): string[] {
  return [...new Set(lists.flat())].sort();
}

/** A path as an entry: what stands for a directory stays, all else is literal. */
function toEntry(path: string): string {
  const [, token = '', rest = ''] = /^(\$\{(?:CWD|HOME)\})?(.*)$/s.exec(path) ?? [];
  return token + escapeLiteral(rest);
}

/**
 * A name that does not exist yet is granted by a pattern, which the broker keeps to. A set of one character makes a
 * pattern of what would else be a place that has to be there.
 */
function toPattern(directory: string, name: string): string {
  const parts = name.split('<*>').map((part) => escapeLiteral(part));
  if (parts.length > 1) return `${toEntry(directory)}/${parts.join('*')}`;
  const at = name.search(/[A-Za-z0-9_.]/);
  const pattern =
    at < 0
      ? `${escapeLiteral(name.slice(0, -1))}?`
      : `${escapeLiteral(name.slice(0, at))}[${name[at]}]${escapeLiteral(name.slice(at + 1))}`;
  return `${toEntry(directory)}/${pattern}`;
}

function listGrants({ grants, names }: GrantChoice, configuration: readonly string[]): FsLists {
  const all = [
    ...Array.from(grants, ([path, rights]) => ({ entry: toEntry(path), rights })),
    ...names.map(({ directory, name, rights }) => ({ entry: toPattern(directory, name), rights })),
  ];
  const pick = (wanted: number): string[] =>
    all.filter(({ rights }) => rights === wanted).map(({ entry }) => entry);
  const lists = {
    read: pick(READ),
    write: unite([pick(WRITE), configuration]),
    exec: pick(EXEC),
    allow: pick(WRITE | EXEC),
  };
  return Object.fromEntries(
    Object.entries(lists)
      .filter(([, list]) => list.length > 0)
      .map(([key, list]) => [key, list.sort()]),
  );
}

/** Variables that were passed and that no run passes unless told to. */
function findAllowedNames(runs: readonly Evidence[]): string[] {
  const passed = unite(runs.map(({ environment }) => environment.passed));
  const rules = {
    mode: 'scrub',
    isExecStripped: true,
    isPathSafe: false,
    allow: [],
    deny: [],
    set: {},
  } as const;
  const env = Object.fromEntries(passed.map((name) => [name, '']));
  const kept = new Set(filterEnvironment({ env, rules }).passed);
  return passed.filter((name) => !kept.has(name));
}

interface Destinations {
  readonly allow: readonly string[];
  /** What was reached outside the run's own loopback. */
  readonly outside: readonly string[];
}

/**
 * A run in a network of its own names what it reached. One in the host's network is seen to reach addresses only, and
 * those may be others tomorrow: it needs the network as a whole.
 */
function findDestinations(runs: readonly Evidence[]): Destinations {
  const outside: string[] = [];
  const named: string[] = [];
  let isLoopbackUsed = false;
  for (const { network, entries } of runs) {
    const bound = new Set<string>();
    for (const [endpoint, ops] of Object.entries(entries.network))
      if (ops['bind']?.['ok']) bound.add(portOf(endpoint));
    for (const [endpoint, ops] of Object.entries(entries.network)) {
      if (endpoint.startsWith('unix:') || !isConnected(ops)) continue;
      const isOwn = isLoopback(endpoint) && (network !== 'host' || bound.has(portOf(endpoint)));
      if (isOwn || portOf(endpoint) === '${PORT}') isLoopbackUsed = true;
      else if (network === 'host') outside.push(endpoint);
      else named.push(...toNetEntry(endpoint));
    }
  }
  if (outside.length > 0) return { allow: ['*'], outside: unite([outside]) };
  const own = isLoopbackUsed ? ['127.0.0.1', 'localhost'] : [];
  return { allow: [...own, ...unite([named])], outside };
}

function toNetEntry(endpoint: string): string[] {
  const [, text = ''] = /^tcp:(.+)$/.exec(endpoint) ?? [];
  const host = parseHostPort(text.replace(new RegExp(`^${HOST_LOOPBACK}:`), '127.0.0.1:'));
  return 'problem' in host ? [] : [formatEntry(host, host.port)];
}

function portOf(endpoint: string): string {
  return endpoint.slice(endpoint.lastIndexOf(':') + 1);
}

interface CommentInput {
  readonly choice: GrantChoice;
  readonly network: Destinations;
  readonly configuration: readonly string[];
  readonly tightness: Tightness;
}

const RULES = [
  'Rules: what the system baseline and the private tmp give is not listed. The workspace is readable as a whole,',
  'since looking whether a file is there leaves no trace. Elsewhere a directory stands for its files when four or more',
  'of its entries were read. A file that was made, moved or removed needs its directory, or the nearest one above',
  'that was there before the run; eight or more files written in one directory need all of it. What was moved or linked',
  'from one directory to another needs one entry for both. More than 64 places become fewer, larger ones. Refused',
  'attempts are not granted.',
];

function makeComments(runs: readonly Evidence[], input: CommentInput): string[] {
  const { choice, network, configuration, tightness } = input;
  const ids = unite(runs.map(({ run_ids }) => run_ids));
  const comments = [
    'Generated by assay from the record of a run; check it before you use it.',
    `Of ${ids.slice(0, 10).join(', ')}${ids.length > 10 ? ` and ${ids.length - 10} more` : ''}`,
    ...RULES,
    ...tightness.lines,
  ];
  if (runs.some(({ coverage }) => coverage.reads.status !== 'complete'))
    comments.push(
      'Not all reads were watched, so files outside the workspace may be missing here.',
    );
  if (configuration.length > 0)
    comments.push('Protected configuration was written; its entries below lift the protection.');
  if (choice.names.length > 0)
    comments.push(
      'Entries with wildcards are kept by the broker, which makes opening files slower.',
    );
  if (network.outside.length > 0)
    comments.push(
      `Reached: ${network.outside.slice(0, 10).join(', ')}; a run in a network of its own (--allow-net) tells the names`,
    );
  for (const [from, to] of choice.uncovered)
    comments.push(`Not granted: moving from ${from} to ${to} needs everything above both`);
  for (const path of unite(runs.map(({ run }) => run.needs.listed)))
    comments.push(`Not granted: ${path} was looked at, and granting it grants all that is in it`);
  return comments;
}

function toYaml(policy: PolicyData, comments: readonly string[]): string {
  // A name must not end the comment that it stands in.
  const lines = comments.map((comment) => `# ${quoteYaml(comment).slice(1, -1)}`);
  lines.push(`api_version: ${policy.api_version ?? 'assay/v1'}`);
  for (const section of ['fs', 'net', 'unix', 'env'] as const) {
    const members = Object.entries(policy[section] ?? {}) as [string, readonly string[]][];
    if (members.length === 0) continue;
    lines.push(`${section}:`);
    for (const [key, entries] of members)
      lines.push(`  ${key}:`, ...entries.map((entry) => `    - ${quoteYaml(entry)}`));
  }
  return `${lines.join('\n')}\n`;
}
