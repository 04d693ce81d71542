import type { Network } from '../plan/network.ts';
import type { Coverage, ObserveLevel, Overflow, Surface, SurfaceCoverage } from './event.ts';
import { countOf } from './plural.ts';

/** What no run of assay watches, whatever its level. They are limits of the method, and make no surface partial. */
export const GENERAL_LIMITS: readonly string[] = [
  'Files that were open before the command started are not watched, standard input and output among them',
  'What is read or written through a descriptor or a memory mapping is not watched, only that the file was opened for it',
  'Looking at a file without opening it is not watched: stat, readlink, access, O_PATH and the search of a directory',
];

export interface CoverageInput {
  readonly level: ObserveLevel;
  /** Why no broker watches; undefined when one does. */
  readonly whyNoBroker?: string | undefined;
  /** Whether every open comes to the broker, those for reading too. */
  readonly areOpensWatched: boolean;
  readonly network: Network;
  /** What went wrong in serving the doors to the network. */
  readonly doorProblems?: readonly string[] | undefined;
  readonly lost: number;
  /** Calls that were seen and could not be read. */
  readonly unread: number;
  /** Sockets of the run's own stand in for a program's: nobody sees which are bound. */
  readonly areSocketsReplaced: boolean;
  readonly damagedLines: number;
  readonly overflow: readonly Overflow[];
  /** Places that could not be looked at after the run, to tell how they ended. */
  readonly unseen?: number | undefined;
  /** The recorder came to its end while the program may still have run. */
  readonly isCutShort: boolean;
}

type Watched = Exclude<Surface, 'environment'>;

/** What the record of a run can be believed to hold, by surface. */
export function stateCoverage(input: CoverageInput): Coverage {
  return {
    reads: stateSurface('reads', input),
    changes: stateSurface('changes', input),
    programs: stateSurface('programs', input),
    network: stateSurface('network', input),
    // Names of variables are known before the program starts.
    environment: { status: 'complete', reasons: [] },
  };
}

function stateSurface(surface: Watched, input: CoverageInput): SurfaceCoverage {
  const absence = whyAbsent(surface, input);
  if (absence !== undefined) return { status: 'absent', reasons: [absence] };
  const reasons = [
    ...(surface === 'network' && input.network === 'host'
      ? ['datagrams that are sent without connect are not watched']
      : []),
    ...(surface === 'network' ? (input.doorProblems ?? []) : []),
    ...(surface === 'network' && input.areSocketsReplaced && input.network !== 'none'
      ? ['ports that are taken by listen alone are not told']
      : []),
    ...describeLosses(input),
    ...describeOverflow(surface, input.overflow),
    ...(surface === 'changes' && input.unseen
      ? [`how ${countOf(input.unseen, 'place')} ended could not be looked at`]
      : []),
  ];
  return { status: reasons.length ? 'partial' : 'complete', reasons };
}

function whyAbsent(surface: Watched, input: CoverageInput): string | undefined {
  const only = surface === 'programs' ? '; only the command that was started is known' : '';
  if (input.level === 'none') return `not watched at --observe none${only}`;
  if (input.whyNoBroker !== undefined) return `there is no broker: ${input.whyNoBroker}${only}`;
  if (surface !== 'reads') return undefined;
  if (input.level === 'effects') return 'not watched at --observe effects';
  return input.areOpensWatched ? undefined : 'opens for reading do not come to the broker';
}

/** What is lost may have been anything. */
function describeLosses(input: CoverageInput): string[] {
  const { lost, unread, damagedLines, isCutShort } = input;
  const reasons: string[] = [];
  if (lost > 0) reasons.push(`${countOf(lost, 'event')} could not be written down`);
  if (unread > 0) reasons.push(`${countOf(unread, 'call')} could not be read, and failed`);
  if (damagedLines > 0)
    reasons.push(`${countOf(damagedLines, 'line')} of the record could not be read`);
  if (isCutShort) reasons.push('the record ends before the program did');
  return reasons;
}

function describeOverflow(surface: Watched, overflow: readonly Overflow[]): string[] {
  const folded = overflow.filter(({ op }) => surfaceOf(op) === surface);
  if (folded.length === 0) return [];
  const count = folded.reduce((sum, fold) => sum + fold.count, 0);
  const places = new Set(folded.map(({ directory }) => directory)).size;
  return [
    `${countOf(count, 'event')} in ${countOf(places, 'place')} are counted, and not told one by one`,
  ];
}

function surfaceOf(op: string): Watched {
  if (op === 'read') return 'reads';
  if (op === 'exec') return 'programs';
  return op === 'connect' || op === 'bind' || op === 'resolve' ? 'network' : 'changes';
}
