import type { Decision, Event } from '../../observe/event.ts';
import type { RunRecord } from '../run-record.ts';
import { sortUnique } from '../sorting.ts';
import { findBirths } from './births.ts';
import type { Births } from './births.ts';
import { sortLines } from './canonical-line.ts';
import type { CanonicalLine } from './canonical-line.ts';
import { boundCommand } from './bounded-command.ts';
import { cleanEvent, makePathCleaner } from './clean-paths.ts';
import { makeFileLine } from './file-lines.ts';
import { makeFolds } from './folds.ts';
import type { FoldedNames, Folds } from './folds.ts';
import { makeFreshenedTest, makeGitReadTest } from './git-trees.ts';
import { makeLoosenessTest } from './looseness.ts';
import { FILES, LINKS, makeMakerTest } from './makers.ts';
import { MASK } from './masks.ts';
import { makeNames } from './names.ts';
import type { Names } from './names.ts';
import { connectOutcomeOf, makeEndpointNamer } from './network-lines.ts';
import { makePlaces } from './places.ts';
import type { Places } from './places.ts';
import { makeProgramLines, makeSearchTest } from './program-lines.ts';
import { makeMainFinder } from './side-files.ts';
import { generaliseUserLookup, isUserLookup } from './special-paths.ts';
import { makeWalkFinder, MISSING } from './walks.ts';

/** A run in its general form: free of day, directory, user, process numbers, order and load. */
export interface Normalised {
  /** The general form of a path as seen inside. */
  readonly pathOf: (path: string) => string;
  /** The same for any text with directories in it, such as an argument. */
  readonly textOf: (text: string) => string;
  readonly command: readonly string[];
  /** Sorted, each once. */
  readonly lines: readonly CanonicalLine[];
  /** What was read in system directories, of which the lines hold the directory only. */
  readonly systemReads: readonly CanonicalLine[];
  readonly degradations: readonly Degradation[];
  /** Whether a file has new times only since git came by it. */
  readonly isFreshened: (path: string) => boolean;
  /** What the rules have folded, so that it stays visible beside the id. */
  readonly folded: readonly FoldedNames[];
}

interface Degradation {
  readonly rule: string;
  readonly reason: string;
}

export function normalise(raw: RunRecord): Normalised {
  const clean = makePathCleaner(raw);
  const record = { ...raw, events: raw.events.map((event) => cleanEvent(event, clean)) };
  const folds = makeFolds();
  const places = makePlaces(record);
  const births = findBirths(record);
  const names = makeNames(record, births, places);
  for (const [path, rules] of names.masked)
    for (const rule of rules) folds.note(names.pathOf(path), path, rule);
  const isFreshened = makeFreshenedTest(record);
  const { lines, systemReads } = makeLines(record, { places, births, names, folds, isFreshened });
  return {
    pathOf: (path) => names.pathOf(clean(path)),
    textOf: places.replaceInText,
    command: boundCommand(record.command.map(places.replaceInText)),
    lines: sortLines(lines),
    systemReads: sortLines(systemReads),
    degradations: listDegradations(record, places),
    isFreshened,
    folded: folds.list(),
  };
}

interface Parts {
  readonly places: Places;
  readonly births: Births;
  readonly names: Names;
  readonly folds: Folds;
  readonly isFreshened: Normalised['isFreshened'];
}

function makeLines(
  record: RunRecord,
  { places, births, names, folds, isFreshened }: Parts,
): { lines: CanonicalLine[]; systemReads: CanonicalLine[] } {
  const lines: CanonicalLine[] = [];
  const systemReads: CanonicalLine[] = [];
  const images = new Map(record.programs.map(({ id, image }) => [id, names.pathOf(image)]));
  const imageOf = (program: number): string =>
    program === 0 ? 'assay' : (images.get(program) ?? 'unknown');
  const findWalk = makeWalkFinder(record, places);
  const isSearch = makeSearchTest(record, imageOf);
  const nameEndpoint = makeEndpointNamer(record, names);
  const context = {
    names,
    births,
    findWalk,
    isMade: makeMadeTest(births, names),
    isAbovePlace: (path: string) => places.isAbove(path),
    isGitRead: makeGitReadTest(record, imageOf),
    isFreshened,
    isMaker: makeMakerTest(record, imageOf, FILES),
    isLinkMaker: makeMakerTest(record, imageOf, LINKS),
    isPassing: makeLoosenessTest(births, places),
    findMain: makeMainFinder(record),
    findInHome: (path: string) => {
      const { accountHome, home } = places;
      if (accountHome === undefined || !path.startsWith(`${accountHome}/`)) return undefined;
      return home + path.slice(accountHome.length);
    },
    addSystemRead: (line: CanonicalLine) => {
      const path = generaliseUserLookup(line.path, record.variables.user);
      systemReads.push(path === line.path ? line : { ...line, path });
    },
  };

  function lineOf(event: Event): CanonicalLine | undefined {
    if (event.kind === 'limit')
      return {
        op: 'limit',
        path: event.limit,
        outcome: 'ok',
        program: 'assay',
        atMs: event.atMs,
      };
    if (event.kind === 'environment' || event.kind === 'degradation') return undefined;
    const program = imageOf(event.program);
    const refusedBy = nameRefusal(event.decision, places);
    if (event.kind === 'file') return makeFileLine(event, context, program, refusedBy);
    const { outcome, atMs, basis } = event;
    if (event.kind === 'network') {
      if (refusedBy === undefined && MISSING.has(outcome) && isUserLookup(event.host))
        return undefined;
      return {
        op: event.op,
        path: nameEndpoint(event),
        outcome: connectOutcomeOf(event),
        program,
        refusedBy,
        atMs,
        basis,
      };
    }
    if (isSearch(event)) return undefined;
    const above = refusedBy === undefined ? findWalk(event.path, outcome) : undefined;
    const path = above ?? names.pathOf(event.path, event.requested);
    return { op: 'exec', path, outcome, program, refusedBy, atMs, basis };
  }

  for (const event of record.events) {
    const line = lineOf(event);
    if (line === undefined) continue;
    lines.push(line);
    if (!('path' in event)) continue;
    const rule = ruleOfForm(line.path);
    if (rule !== undefined) folds.note(line.path, event.path, rule);
  }
  for (const line of makeProgramLines(record, names, births, imageOf)) lines.push(line);
  for (const { op, directory, outcome, program, digest, atMs } of record.overflow)
    lines.push({
      op: `overflow ${op}`,
      path: names.pathOf(directory),
      outcome,
      program: imageOf(program),
      digest,
      atMs,
    });
  return { lines, systemReads };
}

/** Of forms that stand for names which were not born in the run. */
function ruleOfForm(form: string): string | undefined {
  if (/^\$\{UP\}(?:\/|$)/.test(form)) return 'upward-search';
  return /\$\{(?:PID|OTHER-PID|N)\}/.test(form) ? 'kernel-numbers' : undefined;
}

/** Made in the run under this name or, since the name was made up, under another one of that form. */
function makeMadeTest(births: Births, names: Names): (path: string, form: string) => boolean {
  const maskedForms = new Set<string>();
  for (const path of births.made) {
    const form = names.pathOf(path);
    if (form.includes(MASK)) maskedForms.add(form);
  }
  return (path, form) => births.made.has(path) || maskedForms.has(form);
}

/**
 * The rule without the place in the file that it was read from, which moves with every edit. Whether the broker or the
 * kernel applied it depends on the machine; that the git guard or a limit did is another thing.
 */
function nameRefusal(decision: Decision | undefined, places: Places): string | undefined {
  if (decision === undefined) return undefined;
  const rule = places.replaceInText(decision.rule ?? '').replace(/^\S+:\d+:\d+ /, '');
  const isPolicy = ['broker', 'kernel', 'egress'].includes(decision.layer);
  return isPolicy ? rule : `${decision.layer}: ${rule}`;
}

function listDegradations({ events }: RunRecord, places: Places): readonly Degradation[] {
  const found: Degradation[] = [];
  for (const event of events)
    if (event.kind === 'degradation')
      found.push({
        rule: places.replaceInText(event.rule),
        reason: places.replaceInText(event.reason),
      });
  return sortUnique(found, ({ rule, reason }) => [`${rule}: ${reason}`]);
}
