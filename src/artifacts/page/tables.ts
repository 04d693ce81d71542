import { make, makePill } from './elements.ts';
import { asList, asObject, asText, asTexts, type Row, type RunModel } from './model.ts';
import { showName, showPath, splitPath, toVisible } from './names.ts';
import { growList, makeEmpty, makeSection, makeTable } from './sections.ts';

const OUTCOME_TONES = { ok: 'good', failed: 'plain', refused: 'bad', none: 'plain' } as const;

export function showOutcome({
  outcome,
  outcomeClass,
}: Pick<Row, 'outcome' | 'outcomeClass'>): Node {
  const text = outcomeClass === 'refused' ? `refused (${outcome})` : outcome;
  return text === '' ? make('span') : makePill(toVisible(text, 40), OUTCOME_TONES[outcomeClass]);
}

/** A rule as a person reads it. */
export function showRule(refusedBy: string | undefined): HTMLElement {
  if (refusedBy === undefined) return make('span');
  return refusedBy === ''
    ? make('span', { class: 'faint' }, ['nothing allows it'])
    : showName(refusedBy, { canExpand: true });
}

function showImage(image: string): HTMLElement {
  const shown = showName(splitPath(image).base, { max: 60 });
  shown.title = toVisible(image, 400);
  return shown;
}

export function makeNetwork(model: RunModel): HTMLElement {
  const rows = model.rows.filter(({ kind }) => kind === 'network');
  const network = asText(model.started.network);
  return makeSection(
    {
      id: 'network',
      title: 'Network',
      note: network === '' ? undefined : `The network of this run: ${toVisible(network)}.`,
    },
    [
      rows.length === 0
        ? makeEmpty(model, 'No connection or socket is in this bundle.')
        : makeTable({
            caption: 'Connections and sockets',
            columns: ['Endpoint', 'Operation', 'Outcome', 'Program', 'Rule'],
            items: sortGrave(rows),
            makeCells: (row) => [
              showName(row.path, { canExpand: true }),
              toVisible(row.op, 40),
              showOutcome(row),
              showImage(row.program),
              showRule(row.refusedBy),
            ],
          }),
    ],
  );
}

/** Refused first, then what was done, then what failed anyway. */
function sortGrave(rows: readonly Row[]): Row[] {
  const ranks = { refused: 0, ok: 1, failed: 2, none: 3 };
  return rows.toSorted((a, b) => ranks[a.outcomeClass] - ranks[b.outcomeClass] || a.seq - b.seq);
}

export function makeRefusals(model: RunModel): HTMLElement {
  const rows = model.rows.filter(({ outcomeClass }) => outcomeClass === 'refused');
  return makeSection(
    {
      id: 'refusals',
      title: 'Refusals',
      note: 'Every attempt that was refused, and the rule that refused it.',
    },
    [
      rows.length === 0
        ? makeEmpty(model, 'No refusal is in this bundle.')
        : makeTable({
            caption: 'Refused attempts',
            columns: ['Operation', 'What', 'Program', 'Rule', 'Answer'],
            items: rows,
            makeCells: (row) => [
              toVisible(row.op, 40),
              showPath(row.path, { canExpand: true }),
              showImage(row.program),
              showRule(row.refusedBy),
              toVisible(row.outcome, 40),
            ],
          }),
    ],
  );
}

const CHANGE_TITLES: ReadonlyMap<string, string> = new Map([
  ['created', 'Created'],
  ['modified', 'Modified'],
  ['removed', 'Removed'],
  ['attributes', 'Attributes changed'],
]);

/** What a look before and a look after would show. */
export function makeChanges(model: RunModel): HTMLElement {
  const groups = new Map<string, string[]>();
  for (const { change, path } of model.changes) {
    const name = asText(change);
    const paths = groups.get(name) ?? [];
    groups.set(name, paths);
    paths.push(asText(path));
  }
  const isThere = groups.size > 0;
  return makeSection(
    {
      id: 'changes',
      title: 'Changes',
      note: 'What the run left behind in the end, its private temporary directory apart.',
    },
    [
      isThere
        ? make(
            'div',
            { class: 'columns' },
            Array.from(groups, ([name, paths]) => makeChangeGroup(name, paths)),
          )
        : makeEmpty(model, 'No change is in this bundle.'),
    ],
  );
}

function makeChangeGroup(name: string, paths: readonly string[]): HTMLElement {
  const list = make('ul', { class: 'plain' });
  const group = make('div', { class: 'card' }, [
    make('h3', {}, [
      CHANGE_TITLES.get(name) ?? toVisible(name, 40),
      make('span', { class: 'count' }, [paths.length.toLocaleString('en-US')]),
    ]),
    list,
  ]);
  growList({
    items: paths,
    container: list,
    after: group,
    makeItem: (path) => make('li', {}, [showPath(path, { canExpand: true })]),
  });
  return group;
}

const STATUS_TONES: ReadonlyMap<string, string> = new Map([
  ['complete', 'good'],
  ['enforced', 'good'],
  ['partial', 'warn'],
  ['absent', 'bad'],
]);

export function showStatus(status: string): HTMLElement {
  return makePill(toVisible(status, 40), STATUS_TONES.get(status) ?? 'plain');
}

function listTexts(texts: readonly string[]): Node {
  return make(
    'ul',
    { class: 'plain' },
    texts.map((text) => make('li', {}, [showName(text, { max: 400, canExpand: true })])),
  );
}

export function makeCoverage(model: RunModel): HTMLElement {
  const surfaces = Object.entries(asObject(model.coverage?.surfaces));
  const layers = asList(model.layers?.layers).map(asObject);
  const claims = asTexts(model.manifest?.sandbox?.non_claims);
  return makeSection(
    {
      id: 'coverage',
      title: 'Coverage',
      note: 'What was watched, what held the boundary, and what this record does not claim.',
    },
    [
      surfaces.length === 0
        ? makeEmpty(
            model,
            'This bundle does not say what was watched: what is not in it may still have happened.',
          )
        : makeTable({
            caption: 'Watched surfaces',
            columns: ['Surface', 'Watched', 'What is missing'],
            items: surfaces,
            makeCells: ([name, surface]) => [
              showName(name),
              showStatus(asText(asObject(surface)['status'])),
              listTexts(asTexts(asObject(surface)['reasons'])),
            ],
          }),
      layers.length === 0
        ? undefined
        : makeTable({
            caption: 'Layers of the boundary',
            columns: ['Layer', 'Status', 'Reason'],
            items: layers,
            makeCells: ({ layer, status, reason }) => [
              showName(asText(layer)),
              showStatus(asText(status)),
              asText(reason) === '' ? '' : showName(asText(reason), { max: 400 }),
            ],
          }),
      model.degradations.length === 0
        ? undefined
        : makeTable({
            caption: 'Not enforced',
            columns: ['Rule not enforced', 'Why', 'Code'],
            items: model.degradations,
            makeCells: ({ component, detail, reason_code: code }) => [
              showName(asText(component), { max: 300 }),
              asText(detail) === '' ? '' : showName(asText(detail), { max: 400 }),
              toVisible(asText(code), 60),
            ],
          }),
      claims.length === 0
        ? undefined
        : make('div', { class: 'card' }, [
            make('h3', {}, ['Not claimed']),
            listTexts(claims.map(spellClaim)),
          ]),
    ],
  );
}

function spellClaim(claim: string): string {
  return /^[a-z_]+$/.test(claim) ? claim.replaceAll('_', ' ') : claim;
}

export function makeEnvironment(model: RunModel): HTMLElement {
  const { environment } = model;
  return makeSection(
    {
      id: 'environment',
      title: 'Environment',
      note: 'Variables by name. Their values are never recorded.',
    },
    environment
      ? [
          makeNameGroup('Passed', asTexts(environment.passed)),
          makeNameGroup('Removed', asTexts(environment.removed)),
        ]
      : [makeEmpty(model, 'No environment is in this bundle.')],
  );
}

function makeNameGroup(title: string, names: readonly string[]): HTMLElement {
  const list = make('ul', { class: 'chips' });
  const group = make('div', { class: 'name-group' }, [
    make('h3', {}, [title, make('span', { class: 'count' }, [String(names.length)])]),
    list,
  ]);
  growList({
    items: names,
    container: list,
    after: group,
    makeItem: (name) => make('li', {}, [showName(name, { max: 80 })]),
  });
  return group;
}
