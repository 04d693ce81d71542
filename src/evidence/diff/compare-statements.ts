import type { EndData } from '../bundle/event-data.ts';
import { makeDifference } from './compare-ledger.ts';
import type { Difference, Facet, Group, RunStatement } from './difference.ts';
import { listPolicyRules, type PolicyRule } from './policy-rules.ts';

type Table = ReadonlyMap<string, readonly Facet[]>;

/** What bundles say once: how the run was set up, watched and ended. */
export function compareStatements(before: RunStatement, after: RunStatement): Difference[] {
  return [
    ...compareTables('run', listRun(before), listRun(after)),
    ...comparePolicies(before, after),
    ...compareTables('environment', listEnvironment(before), listEnvironment(after)),
    ...compareTables('layers', listLayers(before), listLayers(after)),
    ...compareTables('coverage', listCoverage(before), listCoverage(after)),
  ];
}

function compareTables(group: Group, before: Table, after: Table): Difference[] {
  const subjects = new Set([...before.keys(), ...after.keys()]);
  return [...subjects].flatMap((subject) => {
    const old = keyFacets(before.get(subject));
    const now = keyFacets(after.get(subject));
    const gone = [...old].flatMap(([key, facet]) => (now.has(key) ? [] : [facet]));
    const come = [...now].flatMap(([key, facet]) => (old.has(key) ? [] : [facet]));
    if (gone.length + come.length === 0) return [];
    const same = [...now].flatMap(([key, facet]) => (old.has(key) ? [facet] : []));
    return [makeDifference({ group, subject, before: gone, after: come, same })];
  });
}

function keyFacets(facets: readonly Facet[] = []): ReadonlyMap<string, Facet> {
  return new Map(facets.map((facet) => [JSON.stringify(facet), facet]));
}

function listRun({ command, mode, level, network, end }: RunStatement): Table {
  const table = new Map<string, Facet[]>();
  const set = (subject: string, value: string | undefined): void => {
    if (value !== undefined) table.set(subject, [{ value }]);
  };
  set('command', command?.map(quoteArgument).join(' '));
  set('mode', mode);
  set('level', level);
  set('network', network);
  for (const [subject, value] of Object.entries(describeEnd(end))) set(subject, value);
  return table;
}

function describeEnd(end: EndData | undefined): Readonly<Record<string, string | undefined>> {
  if (end === undefined) return {};
  return {
    'exit code': String(end.exit_code),
    signal: String(end.signal),
    'timed out': end.timed_out ? 'yes' : 'no',
    'ended by limit': String(end.limit ?? 'none'),
    'could not be run': String(end.exec_error ?? 'no'),
  };
}

/** As it could be typed; another command never looks the same. */
function quoteArgument(argument: string): string {
  return /^[\w@%+=:,./-]+$/.test(argument) ? argument : JSON.stringify(argument);
}

function comparePolicies(before: RunStatement, after: RunStatement): Difference[] {
  const old = before.policy;
  const now = after.policy;
  // A bundle that only names its policy tells whether it was the same, and no more.
  const digests = compareTables(
    'policy',
    listPolicyIdentity(old?.digest ?? before.policyId, old?.name),
    listPolicyIdentity(now?.digest ?? after.policyId, now?.name),
  );
  if (old === undefined || now === undefined) return digests;
  return [
    ...digests,
    ...compareTables(
      'policy',
      listRules([...listPolicyRules(old.policy), ...listPolicyRules(old.toolchain, 'toolchain')]),
      listRules([...listPolicyRules(now.policy), ...listPolicyRules(now.toolchain, 'toolchain')]),
    ),
  ];
}

function listPolicyIdentity(digest: string | undefined, name: string | undefined): Table {
  const table = new Map<string, Facet[]>();
  if (digest !== undefined) table.set('digest', [{ value: digest }]);
  if (name !== undefined) table.set('name', [{ value: name }]);
  return table;
}

function listRules(rules: readonly PolicyRule[]): Table {
  const table = new Map<string, Facet[]>();
  for (const { key, entry, value = '', effect } of rules)
    if (entry === undefined) table.set(key, [{ value }]);
    else table.set(`${key}: ${entry}`, [{ effect }]);
  return table;
}

function listEnvironment({ environment }: RunStatement): Table {
  const table = new Map<string, Facet[]>();
  for (const state of ['passed', 'removed'] as const)
    for (const name of environment?.[state] ?? []) table.set(name, [{ state }]);
  return table;
}

function listLayers({ layers }: RunStatement): Table {
  return new Map(
    [...layers].map(([layer, { status, reason }]) => [
      layer,
      [{ status, ...(reason && { reason }) }],
    ]),
  );
}

function listCoverage({ coverage }: RunStatement): Table {
  return new Map(
    [...coverage].map(([surface, { status, reasons }]) => [
      surface,
      [{ status }, ...reasons.map((reason) => ({ reason }))],
    ]),
  );
}
