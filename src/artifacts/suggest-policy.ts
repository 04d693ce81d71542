import { toPrintableJson } from '../core/printable.ts';
import { isRedacted } from '../core/redaction-mark.ts';
import { isConnected, isLoopback } from '../evidence/controls.ts';
import type { Evidence } from '../evidence/evidence.ts';
import { makeBroadTest } from '../evidence/needed-places.ts';
import { filterEnvironment } from '../plan/environment.ts';
import { HOST_LOOPBACK } from '../plan/host-ports.ts';
import type { PolicyData } from '../policy/document.ts';
import { parseHostPort } from '../policy/host.ts';
import { parseIp } from '../policy/ip-address.ts';
import { formatEntry } from '../policy/net-target.ts';
import { findSpecial, listSpecialRanges } from '../policy/special-ranges.ts';
import { toEntry, toPattern } from './name-pattern.ts';
import { findCuttingEntries } from './net-refusals.ts';
import { chooseGrants, EXEC, type GrantChoice, READ, WRITE } from './policy-grants.ts';
import { findRefusals, listDenied, type Refusals } from './policy-refusals.ts';
import { measureTightness, type Tightness } from './policy-tightness.ts';
import type { ArtifactFormat } from './serialise.ts';
import { quoteYaml } from './yaml-text.ts';

export interface Suggestion {
  readonly text: string;
  readonly policy: PolicyData;
  readonly tightness: Tightness;
}

type FsLists = { readonly [Key in 'read' | 'write' | 'exec' | 'allow']?: readonly string[] };

/**
 * The policy under which runs like these pass, and little else. Refused attempts are not granted, nor is what the
 * policies of the runs deny or protect.
 */
export function suggestPolicy(
  evidence: Evidence | readonly Evidence[],
  format: ArtifactFormat = 'yaml',
): Suggestion {
  const runs: readonly Evidence[] = 'length' in evidence ? evidence : [evidence];
  const needs = runs.map(({ run }) => run.needs);
  const choice = chooseGrants(needs, makeShownBroadTest(runs));
  const configuration = unite(needs.map((one) => one.configuration)).map(toEntry);
  const grants = listGrants(choice, configuration);
  const unix = unite(needs.map((one) => one.unix)).map(toEntry);
  const env = findAllowedNames(runs);
  const network = findDestinations(runs);
  const refusals = findRefusals(runs, { fs: grants, unix: { allow: unix } });
  const fs = { ...grants, ...refusals };
  const policy: PolicyData = {
    api_version: 'assay/v1',
    ...(Object.keys(fs).length > 0 && { fs }),
    ...(network.allow.length > 0 && { net: toNet(network) }),
    ...(unix.length > 0 && { unix: { allow: unix } }),
    ...(env.length > 0 && { env: { allow: env } }),
  };
  const tightness = measureTightness(runs, choice, refusals);
  if (format === 'json') return { text: `${toPrintableJson(policy, 2)}\n`, policy, tightness };
  const comments = makeComments(runs, { choice, network, configuration, refusals, tightness });
  return { text: toYaml(policy, comments), policy, tightness };
}

function unite(lists: readonly (readonly string[])[]): string[] {
  return [...new Set(lists.flat())].sort();
}

/** Of directories as a suggestion writes them: whether one is too broad in some run. */
function makeShownBroadTest(runs: readonly Evidence[]): (shown: string) => boolean {
  const tests = runs.map(({ run: { directories } }) => {
    const isBroad = makeBroadTest(directories);
    const { cwd, home } = directories;
    return (shown: string): boolean =>
      isBroad(shown.replace('${CWD}', () => cwd).replace('${HOME}', () => home));
  });
  return (shown) => tests.some((isBroad) => isBroad(shown));
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
  readonly deny: readonly string[];
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
  for (const { network, entries, run } of runs) {
    const bound = new Set<string>();
    for (const [endpoint, ops] of Object.entries(entries.network))
      if (ops['bind']?.['ok']) bound.add(portOf(endpoint));
    for (const [endpoint, ops] of Object.entries(entries.network)) {
      if (endpoint.startsWith('unix:') || !isConnected(ops)) continue;
      const isOwn = isLoopback(endpoint) && (network !== 'host' || bound.has(portOf(endpoint)));
      if (isOwn || portOf(endpoint) === '${PORT}') isLoopbackUsed = true;
      else if (network === 'host') outside.push(endpoint);
      else named.push(...[endpoint, ...listClosed(endpoint, run.connections)].flatMap(toNetEntry));
    }
  }
  const own = isLoopbackUsed ? ['127.0.0.1', 'localhost'] : [];
  const away = outside.length > 0 ? ['*'] : unite([named]);
  const denied = unite(runs.map(({ run }) => run.needs.rules.net_deny));
  return {
    allow: outside.length > 0 ? away : [...own, ...away],
    deny: findCuttingEntries(denied, away),
    outside: unite([outside]),
  };
}

/** What a name led to, and is open only where an entry means it: addresses that are not of the internet. */
function listClosed(endpoint: string, connections: Evidence['run']['connections']): string[] {
  return (connections[endpoint]?.addresses ?? []).flatMap((text) => {
    const address = parseIp(text);
    if (!address || !findSpecial(listSpecialRanges(), address)) return [];
    return `tcp:${text.includes(':') ? `[${text}]` : text}:${portOf(endpoint)}`;
  });
}

function toNet({ allow, deny }: Destinations): NonNullable<PolicyData['net']> {
  return { allow, ...(deny.length > 0 && { deny }) };
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
  readonly refusals: Refusals;
  readonly tightness: Tightness;
}

const RULES = [
  'Rules: what the system baseline and the private tmp give is not listed. The workspace is readable as a whole,',
  'since looking whether a file is there leaves no trace. Elsewhere a directory stands for its files when four or more',
  'of its entries were read. A file that was made, moved or removed needs its directory, or the nearest one above',
  'that was there before the run; eight or more files written in one directory need all of it. What was moved or linked',
  'from one directory to another needs one entry for both. More than 64 places become fewer, larger ones. Refused',
  'attempts are not granted, and what the policy of the run denies or protects in all this stays so.',
];

const MAX_DENIED = 10;

function makeComments(runs: readonly Evidence[], input: CommentInput): string[] {
  const { choice, network, configuration, refusals, tightness } = input;
  const ids = unite(runs.map(({ run_ids }) => run_ids));
  const comments = [
    'Generated by assay from the record of a run; check it before you use it.',
    `Of ${ids.slice(0, 10).join(', ')}${ids.length > 10 ? ` and ${ids.length - 10} more` : ''}`,
    ...RULES,
    ...tightness.lines,
  ];
  if (runs.some(({ coverage }) => coverage.reads.status === 'absent'))
    comments.push(
      'Reads were not watched, so what the policy of the run names for reading and executing is kept. Not its wildcards,',
      'nor directories that are too broad: files in these may be missing here.',
    );
  if (runs.some(({ coverage }) => coverage.reads.status === 'partial'))
    comments.push(
      'Not all reads were watched, so files outside the workspace may be missing here.',
    );
  if (runs.some(({ run: { directories } }) => makeBroadTest(directories)(directories.cwd)))
    comments.push(
      'The workspace is the home, holds it or is as broad, so only what was opened in it is granted. What the program',
      'only looked at (is it there, how old is it) is not there under this policy.',
    );
  if (configuration.length > 0)
    comments.push('Protected configuration was written; its entries below lift the protection.');
  if (choice.names.length > 0)
    comments.push(
      'Entries with wildcards are kept by the broker, which makes opening files slower.',
    );
  if (choice.names.some(({ name }) => isRedacted(name)))
    comments.push('A part of some names is hidden, and a wildcard stands for it.');
  for (const path of unite(runs.map(({ run }) => run.needs.hiding)))
    comments.push(`Granted as a whole, since a part of a name in it is hidden: ${path}`);
  if (network.outside.length > 0)
    comments.push(
      `Reached: ${network.outside.slice(0, 10).join(', ')}; a run in a network of its own (--allow-net) tells the names`,
    );
  if (network.outside.length > 0 && network.deny.length > 0)
    comments.push(
      'Nothing enforces net.deny in the network of the host, so --fail-closed refuses this policy, as it does the own',
      'policy of the run.',
    );
  for (const [from, to] of choice.uncovered)
    comments.push(`Not granted: moving from ${from} to ${to} needs everything above both`);
  const denied = listDenied(runs, refusals);
  for (const path of denied.slice(0, MAX_DENIED))
    comments.push(`Not granted: ${path} was used, and the policy of a run refuses it`);
  if (denied.length > MAX_DENIED)
    comments.push(
      `Not granted: ${denied.length - MAX_DENIED} more that the policy of a run refuses`,
    );
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
