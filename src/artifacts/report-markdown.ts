import { areaOf } from '../evidence/controls.ts';
import type { Control, Evidence } from '../evidence/evidence.ts';
import { GENERAL_LIMITS } from '../observe/coverage.ts';
import { code, firstOf, plural, table } from './markdown.ts';
import { drawPrograms } from './program-tree.ts';
import { listChangedFiles, listReadFiles } from './report-files.ts';

const MAX_ROWS = 100;

/** The evidence for people: the answer first, then what it rests on. */
export function makeReport(evidence: Evidence): string {
  const sections = [
    ['# Run report', '', `**${makeVerdict(evidence)}**`],
    [
      `Command: ${evidence.command.map(code).join(' ')}`,
      '',
      `Run id: ${code(evidence.run_ids[0] ?? '')}`,
    ],
    section('Controls', describeControls(evidence)),
    section(isDryRun(evidence) ? 'Would have been refused' : 'Refused', describeRefusals(evidence)),
    section('Out of sight', describeHidden(evidence)),
    section(
      'What did not happen',
      evidence.statements.map((statement) => `- ${statement}`),
    ),
    section('Changed files', listChangedFiles(evidence)),
    section('Programs', drawPrograms(evidence)),
    section('Network', describeNetwork(evidence)),
    section('Files read', listReadFiles(evidence)),
    section('Environment', describeEnvironment(evidence)),
    section('Coverage', describeCoverage(evidence)),
    section('Limits of this report', describeLimits(evidence)),
    section('Identity', describeIdentity(evidence)),
  ];
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`## ${title}`, '', ...lines];
}

function isDryRun({ mode }: Pick<Evidence, 'mode'>): boolean {
  return mode === 'dry-run';
}

/** One sentence that can be believed without reading on. */
export function makeVerdict(evidence: Evidence): string {
  const { controls, counters } = evidence;
  const verdicts = Object.values<Control>({ ...controls }).map(({ verdict }) => verdict);
  let kept = 'The boundary held';
  if (isDryRun(evidence)) kept = 'A dry run: nothing was enforced';
  else if (verdicts.every((verdict) => verdict === 'not enforced')) kept = 'Nothing was enforced';
  else if (verdicts.some((verdict) => /^(?:partly|not) enforced$/.test(verdict)))
    kept = 'Not everything was enforced';
  const refused = counters['refusals'] ?? 0;
  const attempts = isDryRun(evidence)
    ? `${plural(refused, 'attempt')} would have been refused`
    : `${plural(refused, 'attempt')} ${refused === 1 ? 'was' : 'were'} refused`;
  const hidden = evidence.run.hidden.length;
  const parts = [kept, describeChanges(evidence), attempts];
  if (hidden > 0)
    parts.push(
      `${plural(hidden, 'file')} it looked for ${hidden === 1 ? 'was' : 'were'} out of its sight`,
    );
  return `${[...parts, describeEnd(evidence)].join('; ')}.`;
}

function describeChanges({ changes, coverage }: Evidence): string {
  const all = [...changes.created, ...changes.modified, ...changes.removed, ...changes.attributes];
  const known = coverage.changes.status === 'complete' ? '' : 'at least ';
  if (coverage.changes.status === 'absent') return 'changes were not watched';
  if (all.length === 0) return known ? 'no change was seen' : 'no file was changed';
  const outside = all.filter((path) => areaOf(path) !== '${CWD}').length;
  const where = outside === 0 ? 'all in the workspace' : `${outside} outside the workspace`;
  return `${known}${plural(all.length, 'file')} changed, ${where}`;
}

function describeEnd({ end }: Evidence): string {
  if (end.exec_error !== null) return `the command could not be run (${end.exec_error})`;
  if (end.timed_out) return 'the command was ended by its time limit';
  if (end.limit !== null) return `the command was ended by its limit on ${end.limit}`;
  if (end.signal > 0) return `the command was ended by signal ${end.signal}`;
  return `the command exited with code ${end.exit_code}`;
}

const CONTROL_TITLES = {
  egress: 'Network: what could get out',
  writes: 'Files: what could be written',
  configuration: 'Configuration: what would run later, outside',
} as const;

function describeControls({ controls, mode }: Evidence): string[] {
  const keys = Object.keys(CONTROL_TITLES) as (keyof typeof CONTROL_TITLES)[];
  const rows = keys.map((key) => {
    const { verdict, used, refused, coverage } = controls[key];
    const { shown, more } = firstOf(used, 5);
    const list = shown.map(code).join(', ') + (more > 0 ? ` and ${more} more` : '');
    return [CONTROL_TITLES[key], verdict, list || 'nothing', String(refused), coverage];
  });
  const refused = isDryRun({ mode }) ? 'Would refuse' : 'Refused';
  const reasons = keys.flatMap((key) =>
    controls[key].reasons.map((reason) => `- ${CONTROL_TITLES[key]}: ${code(reason)}`),
  );
  return [
    ...table(['Control', 'Verdict', 'Used', refused, 'Watched'], rows),
    ...(reasons.length > 0 ? ['', ...reasons] : []),
  ];
}

function describeRefusals({ run, refusals }: Evidence): string[] {
  if (refusals.length === 0) return [];
  const { shown, more } = firstOf(run.refusals, MAX_ROWS);
  const rows = shown.map(({ op, subject, rule, layer, count, hint }) => [
    op,
    code(subject),
    rule === null ? 'nothing allows it' : code(rule),
    layer,
    String(count),
    hint === null ? '' : code(hint),
  ]);
  return [
    ...table(['Attempt', 'On', 'Rule', 'By', 'Times', 'What would change it'], rows),
    ...(more > 0 ? ['', `… and ${plural(more, 'more attempt')}`] : []),
  ];
}

/** Not there for the program, although it is there. That it looked is worth as much as a refusal. */
function describeHidden({ run }: Evidence): string[] {
  if (run.hidden.length === 0) return [];
  const { shown, more } = firstOf(run.hidden, MAX_ROWS);
  return [
    'The program looked for these and did not find them, since the sandbox does not show them:',
    '',
    ...shown.map((path) => `- ${code(path)}`),
    ...(more > 0 ? ['', `… and ${plural(more, 'more file')}`] : []),
  ];
}

function describeNetwork({ entries, network, run }: Evidence): string[] {
  const rows = Object.entries(entries.network).flatMap(([endpoint, ops]) =>
    Object.entries(ops).flatMap(([op, outcomes]) =>
      Object.entries(outcomes).map(([outcome, programs]) => [
        op,
        code(endpoint),
        outcome,
        programs.map(code).join(', '),
      ]),
    ),
  );
  const { shown, more } = firstOf(rows, MAX_ROWS);
  const hasDoors =
    Object.keys(run.connections ?? {}).length > 0 ||
    Object.keys(entries.network).some((endpoint) => endpoint.startsWith('dns:'));
  const lines = [`The run had ${describeNetworkKind(network, hasDoors)}.`];
  if (shown.length > 0) lines.push('', ...table(['Attempt', 'Endpoint', 'Outcome', 'By'], shown));
  if (more > 0) lines.push('', `… and ${plural(more, 'more endpoint')}`);
  lines.push(...describeTraffic(run.connections ?? {}));
  return lines;
}

function describeTraffic(connections: Evidence['run']['connections']): string[] {
  const { shown, more } = firstOf(Object.entries(connections), MAX_ROWS);
  if (shown.length === 0) return [];
  const rows = shown.map(([endpoint, one]) => [
    code(endpoint),
    String(one.count),
    String(one.refused),
    String(one.bytes_sent),
    String(one.bytes_received),
    one.addresses.map(code).join(', '),
    one.rules.map(code).join(', '),
  ]);
  const heads = ['Endpoint', 'Times', 'Refused', 'Bytes out', 'Bytes in', 'Dialled', 'Rule'];
  const rest = more > 0 ? ['', `… and ${plural(more, 'more endpoint')}`] : [];
  return ['', ...table(heads, rows), ...rest];
}

function describeNetworkKind(network: string, hasDoors: boolean): string {
  if (network === 'private' && hasDoors)
    return 'a loopback of its own, and doors to what the policy allows';
  if (network === 'private') return 'a loopback of its own and no other network';
  if (network === 'brokered') return 'what the policy allows, connected to by the broker';
  if (network === 'host') return "the host's network";
  return network === 'none' ? 'no network' : code(network);
}

function describeEnvironment({ environment }: Evidence): string[] {
  const list = (names: readonly string[]): string =>
    names.length === 0 ? 'none' : names.map(code).join(', ');
  return [`Passed: ${list(environment.passed)}`, '', `Removed: ${list(environment.removed)}`];
}

function describeCoverage({ coverage, layers, sandbox_degradations }: Evidence): string[] {
  const rows = Object.entries(coverage).map(([surface, { status, reasons }]) => [
    surface,
    status,
    reasons.map(code).join('; '),
  ]);
  const missing = layers.filter(({ status }) => status !== 'enforced');
  return [
    ...table(['Surface', 'Watched', 'What is missing'], rows),
    ...(missing.length + sandbox_degradations.length > 0 ? [''] : []),
    ...missing.map(
      ({ layer, status, reason }) =>
        `- Layer ${code(layer)} is ${status}${reason ? `: ${code(reason)}` : ''}`,
    ),
    ...sandbox_degradations.map(
      ({ rule, reason }) => `- Not enforced: ${code(rule)}: ${code(reason)}`,
    ),
  ];
}

function describeLimits({ run, level, entries }: Evidence): string[] {
  const lines = [
    ...GENERAL_LIMITS.map((limit) => `- ${limit}.`),
    '- A file that was opened for writing counts as changed when its size, time or identity differs afterwards.',
    '- What a name that was linked before the run leads to, under its other names, is not listed.',
  ];
  if (level !== 'all') lines.push('- Reads were not watched.');
  const masked = run.masked.reduce((sum, { count }) => sum + count, 0);
  if (masked > 0)
    lines.push(
      `- ${plural(masked, 'name')} that programs made up are shown as ${code('<*>')}; the evidence counts them by form.`,
    );
  if (entries.folded.length > 0)
    lines.push(
      `- ${plural(entries.folded.length, 'directory has', 'directories have')} too many events to keep one by one: only counts are left.`,
    );
  if (run.unverified_changes.length > 0)
    lines.push(
      `- How ${plural(run.unverified_changes.length, 'file')} ended could not be looked at.`,
    );
  return lines;
}

function describeIdentity({ run_ids, digest, run, policy, name }: Evidence): string[] {
  const host = Object.values(run.host).map(code).join(' ');
  return [
    ...table(
      ['What', 'Value'],
      [
        ['Run id', code(run_ids[0] ?? '')],
        ['Evidence', code(name)],
        ['Digest of the evidence', code(digest)],
        ['Digest of the run facts', code(run.digest)],
        ['Digest of system reads', code(run.system_reads_digest)],
        ['Policy', code(policy.name)],
        ['Started', code(run.created_at)],
        ['Took', `${run.duration_ms} ms`],
        ['Workspace', code(run.directories.cwd)],
        ['Host', `${host}, assay ${code(run.assay_version)}`],
      ],
    ),
  ];
}
