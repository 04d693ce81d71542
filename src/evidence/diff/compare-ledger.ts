import { type Difference, type Facet, type Group, GROUPS } from './difference.ts';
import { BASELINE, CANDIDATE, type Ledger } from './ledger.ts';

interface Draft {
  readonly group: Group;
  readonly subject: string;
  readonly before: Facet[];
  readonly after: Facet[];
  readonly same: Facet[];
}

/** By subject what only one of the two has, sorted, so that equal bundles give equal texts. */
export function compareLedger(ledger: Ledger): Difference[] {
  const drafts = new Map<string, Draft>();
  for (const { group, subject, facet, sides } of ledger.differing()) {
    const key = keyOf(group, subject);
    let draft = drafts.get(key);
    if (!draft) drafts.set(key, (draft = { group, subject, before: [], after: [], same: [] }));
    if (sides === BASELINE) draft.before.push(facet);
    if (sides === CANDIDATE) draft.after.push(facet);
  }
  const all = [...drafts.values()];
  for (const { group, subject, facet } of ledger.shared(all))
    drafts.get(keyOf(group, subject))?.same.push(facet);
  return all.map(finishDraft).sort(compareDifferences);
}

export function makeDifference(
  draft: Pick<Difference, 'group' | 'subject'> & Partial<Difference>,
): Difference {
  return finishDraft({ before: [], after: [], same: [], ...draft });
}

export function compareDifferences(a: Difference, b: Difference): number {
  return (
    GROUPS.indexOf(a.group) - GROUPS.indexOf(b.group) ||
    (a.subject === b.subject ? 0 : a.subject < b.subject ? -1 : 1)
  );
}

function keyOf(group: Group, subject: string): string {
  return `${group} ${subject}`;
}

function finishDraft(draft: Omit<Difference, 'change'>): Difference {
  const { group, subject } = draft;
  const before = sortFacets(draft.before);
  const after = sortFacets(draft.after);
  const same = sortFacets(draft.same);
  const isKnown = same.length > 0 || (before.length > 0 && after.length > 0);
  const change = isKnown ? 'changed' : before.length > 0 ? 'gone' : 'new';
  return { group, subject, change, before, after, same };
}

function sortFacets(facets: readonly Facet[]): readonly Facet[] {
  if (facets.length < 2) return facets;
  return facets
    .map((facet) => ({ facet, text: JSON.stringify(facet) }))
    .sort((a, b) => (a.text < b.text ? -1 : 1))
    .map(({ facet }) => facet);
}
