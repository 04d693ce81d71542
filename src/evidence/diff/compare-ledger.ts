import { type Difference, type Facet, type Group, GROUPS } from './difference.ts';
import { BASELINE, CANDIDATE, type Ledger } from './ledger.ts';

interface Draft {
  readonly group: Group;
  readonly subject: string;
  before: Facet[];
  after: Facet[];
  same: Facet[];
}

/** Stands for a list that has nothing yet, since most never will, and there may be many. */
const NONE: Facet[] = [];

/** By subject what only one of the two has, sorted, so that equal bundles give equal texts. */
export function compareLedger(ledger: Ledger): Difference[] {
  const drafts = new Map<Group, Map<string, Draft>>(GROUPS.map((group) => [group, new Map()]));
  const all: Draft[] = [];
  for (const { group, subject, facet, sides } of ledger.differing()) {
    const known = drafts.get(group);
    let draft = known?.get(subject);
    if (!draft) {
      draft = { group, subject, before: NONE, after: NONE, same: NONE };
      known?.set(subject, draft);
      all.push(draft);
    }
    if (sides === BASELINE) draft.before = addTo(draft.before, facet);
    if (sides === CANDIDATE) draft.after = addTo(draft.after, facet);
  }
  for (const { group, subject, facet } of ledger.shared(all)) {
    const draft = drafts.get(group)?.get(subject);
    if (draft) draft.same = addTo(draft.same, facet);
  }
  return all.map(finishDraft).sort(compareDifferences);
}

function addTo(facets: Facet[], facet: Facet): Facet[] {
  if (facets === NONE) return [facet];
  facets.push(facet);
  return facets;
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
