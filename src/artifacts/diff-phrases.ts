import type { Difference, Facet, Group } from '../evidence/diff/difference.ts';

/** How a name is shown: escaped for a terminal, or as code in Markdown. */
export type ShowName = (name: string) => string;

/** Groups whose subjects have one value each: it was that and is now this. */
const SINGLE: ReadonlySet<Group> = new Set(['run', 'layers', 'environment']);
const DIGEST = /^sha256:[0-9a-f]{64}$/;
const DIGEST_LENGTH = 12;
const MAX_PHRASES = 6;

/** What is new, gone or different about a subject, on one line. */
export function describeDifference(difference: Difference, show: ShowName): string {
  const { group, change, before, after } = difference;
  if (change !== 'changed') return listFacets(group, change === 'new' ? after : before, show);
  if (group === 'coverage') return describeCoverage(difference, show);
  const isSingle = SINGLE.has(group) || before.some(({ value }) => value !== undefined);
  if (isSingle) return `${listFacets(group, before, show)} → ${listFacets(group, after, show)}`;
  const { pairs, gone, come } = pairFacets(before, after);
  return [
    ...(pairs.length > 0
      ? [
          shortenList(
            pairs.map(
              ({ old, now }) =>
                `${describeFacet(group, now, show)}, was ${describeOld(old, now, show)}`,
            ),
          ),
        ]
      : []),
    ...(come.length > 0 ? [`now ${listFacets(group, come, show)}`] : []),
    ...(gone.length > 0 ? [`no longer ${listFacets(group, gone, show)}`] : []),
  ].join('; ');
}

function describeCoverage({ before, after }: Difference, show: ShowName): string {
  const statusOf = (facets: readonly Facet[]): string | undefined =>
    facets.flatMap(({ status }) => status ?? [])[0];
  const reasonsOf = (facets: readonly Facet[]): string[] =>
    facets.flatMap(({ reason }) => reason ?? []);
  const old = statusOf(before);
  const now = statusOf(after);
  const added = shortenList(reasonsOf(after).map((reason) => show(reason)));
  const removed = shortenList(reasonsOf(before).map((reason) => show(reason)));
  return [
    ...(old !== undefined || now !== undefined
      ? [`${show(old ?? '?')} → ${show(now ?? '?')}`]
      : []),
    ...(added === '' ? [] : [added]),
    ...(removed === '' ? [] : [`no longer: ${removed}`]),
  ].join('; ');
}

/** The same operation by the same program, which ended otherwise, or on another image. */
function pairFacets(
  before: readonly Facet[],
  after: readonly Facet[],
): { pairs: { old: Facet; now: Facet }[]; gone: Facet[]; come: Facet[] } {
  const keyOf = ({ outcome: _, digest, ...rest }: Facet): string =>
    JSON.stringify([rest, digest !== undefined]);
  const olds = new Map<string, Facet[]>();
  // From the end, so that the first of each is taken first.
  for (const facet of before.toReversed()) {
    const known = olds.get(keyOf(facet));
    if (known) known.push(facet);
    else olds.set(keyOf(facet), [facet]);
  }
  const pairs: { old: Facet; now: Facet }[] = [];
  const come: Facet[] = [];
  for (const now of after) {
    const old = olds.get(keyOf(now))?.pop();
    if (old) pairs.push({ old, now });
    else come.push(now);
  }
  return { pairs, gone: [...olds.values()].flatMap((facets) => facets.toReversed()), come };
}

function describeOld(old: Facet, now: Facet, show: ShowName): string {
  const parts: string[] = [];
  if (old['outcome'] !== now['outcome']) parts.push(show(old['outcome'] ?? 'not said'));
  if (old['digest'] !== now['digest']) parts.push(shorten(old['digest']));
  return parts.join(', ');
}

/** Those that differ in the program alone are said together. */
function listFacets(group: Group, facets: readonly Facet[], show: ShowName): string {
  const merged = new Map<string, { facet: Facet; programs: string[] }>();
  for (const facet of group === 'programs' ? sortUses(facets) : facets) {
    const { program, ...rest } = facet;
    const key = JSON.stringify(rest);
    const known = merged.get(key);
    if (known && program !== undefined) known.programs.push(program);
    else merged.set(key, { facet, programs: program === undefined ? [] : [program] });
  }
  const phrases = [...merged.values()].map(({ facet, programs }) =>
    describeFacet(group, facet, show, programs),
  );
  return shortenList(phrases.filter(Boolean));
}

function shortenList(phrases: readonly string[]): string {
  const shown = phrases.slice(0, MAX_PHRASES).join('; ');
  const more = phrases.length - MAX_PHRASES;
  return more > 0 ? `${shown}; and ${more} more` : shown;
}

/** What ran, then its image; that it was executed goes without saying. */
function sortUses(facets: readonly Facet[]): readonly Facet[] {
  const parents = new Set(facets.flatMap(({ op, program }) => (op === 'run' ? [program] : [])));
  const isSaid = ({ op, outcome, program }: Facet): boolean =>
    op === 'exec' && outcome === 'ok' && parents.has(program);
  const rankOf = ({ op = '' }: Facet): number => ['run', 'image', 'exec'].indexOf(op);
  return facets.filter((facet) => !isSaid(facet)).sort((a, b) => rankOf(a) - rankOf(b));
}

function describeFacet(
  group: Group,
  facet: Facet,
  show: ShowName,
  programs: readonly string[] = facet['program'] === undefined ? [] : [facet['program']],
): string {
  const { op = '', value, status, state, reason } = facet;
  if (value !== undefined) return DIGEST.test(value) ? shorten(value) : show(value);
  if (state !== undefined) return show(state);
  if (status !== undefined)
    return show(status) + (reason === undefined ? '' : ` (${show(reason)})`);
  if (reason !== undefined) return show(reason);
  if (group === 'policy') return '';
  if (group === 'events') return describeEvent(facet, show);
  if (op === 'image') return `image ${shorten(facet['digest'])}`;
  return describeOperation(facet, show, programs);
}

function describeOperation(facet: Facet, show: ShowName, programs: readonly string[]): string {
  const { op = '', outcome = 'ok', target, rule, digest, type } = facet;
  const by = programs.slice(0, 3).map(show).join(', ') + (programs.length > 3 ? ', …' : '');
  const parts = [nameOperation(op, show)];
  if (type !== undefined) parts.push(show(type));
  if (target !== undefined) parts.push(`${op === 'run' ? 'with the script' : '→'} ${show(target)}`);
  if (rule === undefined && outcome !== 'ok' && outcome !== '*') parts.push(show(outcome));
  if (by !== '') parts.push(`by ${by}`);
  if (digest !== undefined) parts.push(`(${shorten(digest)})`);
  if (rule !== undefined)
    parts.push(rule === '' ? '(nothing allows it)' : `(refused by ${show(rule)})`);
  return parts.join(' ');
}

function nameOperation(op: string, show: ShowName): string {
  const [, many] = /^overflow ([a-z+]+)$/.exec(op) ?? [];
  if (many !== undefined) return `${many} of too many files to list`;
  return /^[a-z][a-z+]*$/.test(op) ? op : show(op);
}

function describeEvent({ subject, digest }: Facet, show: ShowName): string {
  return `${subject === undefined ? '' : `${show(subject)} `}(${shorten(digest)})`;
}

/** Enough to see that two digests differ; no more than hex goes out. */
function shorten(digest = ''): string {
  const hex = digest.replace(/^sha256:/, '');
  return /^[0-9a-f]+$/.test(hex) ? `sha256 ${hex.slice(0, DIGEST_LENGTH)}…` : 'sha256 ?';
}
