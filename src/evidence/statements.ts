import { SYSTEM_BASELINE } from '../policy/system-baseline.ts';
import { areaOf, findConfiguration, isLoopback, listChanged, listConnections } from './controls.ts';
import type { EvidenceContent } from './evidence.ts';

type StatementsInput = Pick<
  EvidenceContent,
  'changes' | 'coverage' | 'entries' | 'refusals' | 'level'
>;

const QUIET_OPS: ReadonlySet<string> = new Set(['read', 'exec', 'connect', 'bind', 'resolve']);

/** What did not happen. Said only of what was watched completely: where nobody looked, nothing can be said. */
export function makeStatements(input: StatementsInput): string[] {
  const { coverage, refusals } = input;
  const isWhole = Object.values(coverage).every(({ status }) => status === 'complete');
  return [
    ...stateChanges(input),
    ...stateNetwork(input),
    ...statePrograms(input),
    ...(isWhole && refusals.length === 0 ? ['No attempt was refused.'] : []),
  ];
}

function isFolded({ entries }: StatementsInput, isMeant: (op: string) => boolean): boolean {
  return entries.folded.some(({ op }) => isMeant(op));
}

function stateChanges(input: StatementsInput): string[] {
  if (input.coverage.changes.status !== 'complete') return [];
  if (isFolded(input, (op) => !QUIET_OPS.has(op))) return [];
  const changed = listChanged(input.changes);
  const statements: string[] = [];
  if (changed.length === 0) statements.push('No file was changed outside the private tmp.');
  else if (changed.every((path) => areaOf(path) === '${CWD}'))
    statements.push('No file was changed outside the workspace and the private tmp.');
  if (findConfiguration(changed).length === 0)
    statements.push('No protected configuration was changed.');
  return statements;
}

function stateNetwork(input: StatementsInput): string[] {
  if (input.coverage.network.status !== 'complete') return [];
  if (isFolded(input, (op) => op === 'connect')) return [];
  const inet = listConnections(input.entries).filter((endpoint) => !endpoint.startsWith('unix:'));
  if (inet.length === 0) return ['No network connection was made.'];
  return inet.every(isLoopback) ? ['No connection was made but over loopback.'] : [];
}

function statePrograms(input: StatementsInput): string[] {
  if (input.coverage.programs.status !== 'complete') return [];
  if (isFolded(input, (op) => op === 'exec')) return [];
  const isOfSystem = (image: string): boolean =>
    (SYSTEM_BASELINE.fs?.exec ?? []).some((directory) => image.startsWith(`${directory}/`));
  const { processes } = input.entries;
  const ran = Object.entries(processes).flatMap(([image, { scripts }]) => [image, ...scripts]);
  return ran.every(isOfSystem)
    ? ["No program was run from outside the system's own directories."]
    : [];
}
