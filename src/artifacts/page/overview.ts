import { CATEGORIES, categoryOf } from './categories.ts';
import { draw, make, makePill } from './elements.ts';
import { asObject, asText, asTexts, type RunModel } from './model.ts';
import { showName } from './names.ts';
import { judgeRun, listStatements, makeControlCards } from './verdict.ts';

export interface OverviewOptions {
  readonly model: RunModel;
  readonly isVerified: boolean;
  readonly isOlderFormat: boolean;
}

export function makeOverview({ model, isVerified, isOlderFormat }: OverviewOptions): HTMLElement[] {
  const verdict = isVerified
    ? judgeRun(model)
    : {
        tone: 'bad',
        title: 'No verdict: this bundle is not intact',
        details: [
          'What is shown below is what could be read before the check failed. Do not rely on it.',
        ],
      };
  const command = asTexts(model.started.command ?? model.summary.command);
  const hero = make('div', { class: 'hero', 'data-tone': verdict.tone }, [
    makeShield(verdict.tone),
    make('div', {}, [
      make('h1', { id: 'verdict' }, [verdict.title]),
      make('p', { class: 'hero-details' }, [verdict.details.join(' ')]),
      command.length === 0 ? undefined : makeCommand(command),
      makeFacts(model, isOlderFormat),
    ]),
  ]);
  const cards = isVerified ? makeControlCards(model) : undefined;
  const statements = isVerified ? listStatements(model) : [];
  return [
    hero,
    ...(cards ? [cards] : []),
    ...(isVerified && !isOlderFormat ? [makeFigures(model)] : []),
    ...(statements.length === 0 ? [] : [makeStatementList(statements)]),
  ];
}

function makeShield(tone: string): SVGSVGElement {
  const mark =
    tone === 'good'
      ? 'M14 24l7 7 13-14'
      : tone === 'plain'
        ? 'M24 15v12M24 33v.5'
        : 'M17 17l14 14M31 17L17 31';
  return draw(
    'svg',
    {
      class: 'shield',
      viewBox: '0 0 48 52',
      width: 56,
      height: 60,
      'aria-hidden': 'true',
      focusable: 'false',
    },
    [
      draw('path', { class: 'shield-body', d: 'M24 2l19 7v15c0 13-8 21-19 26C13 45 5 37 5 24V9z' }),
      draw('path', { class: 'shield-mark', d: tone === 'warn' ? 'M24 14v14M24 34v.5' : mark }),
    ],
  );
}

function makeCommand(command: readonly string[]): HTMLElement {
  const line = make('code', { class: 'command' });
  for (const word of command) {
    const isPlain = /^[\w@%+=:,./$-]+$/.test(word);
    const quote = isPlain ? '' : "'";
    line.append(make('span', { class: 'word' }, [quote, showName(word, { max: 240 }), quote]), ' ');
  }
  return line;
}

function makeFacts(model: RunModel, isOlderFormat: boolean): HTMLElement {
  const { manifest, started } = model;
  const sandbox = manifest?.sandbox;
  const facts: [string, string][] = [
    ['Run', asText(manifest?.run_id)],
    ['Policy', asText(sandbox?.policy.name ?? model.policy?.name)],
    ['Mode', asText(sandbox?.mode ?? started.mode)],
    ['Network', asText(started.network)],
    ['Recorded', asText(sandbox?.level ?? started.level)],
    ['When', describeTimes(model)],
    [
      'Made by',
      [asText(manifest?.producer.name), asText(manifest?.producer.version)].join(' ').trim(),
    ],
  ];
  return make('dl', { class: 'facts' }, [
    ...facts
      .filter(([, value]) => value !== '')
      .map(([title, value]) =>
        make('div', {}, [make('dt', {}, [title]), make('dd', {}, [showName(value, { max: 80 })])]),
      ),
    isOlderFormat
      ? make('div', {}, [
          make('dt', {}, ['Format']),
          make('dd', {}, [makePill('older: identity not bound', 'warn')]),
        ])
      : undefined,
  ]);
}

/** Times of first sightings: when the run was, and for how long. */
function describeTimes({ rows }: RunModel): string {
  let first = Infinity;
  let last = -Infinity;
  for (const { ms } of rows) {
    if (ms < first) first = ms;
    if (ms > last) last = ms;
  }
  if (!Number.isFinite(first)) return '';
  const start = new Date(first)
    .toISOString()
    .replace('T', ' ')
    .replace(/:\d\d\.\d+Z$/, ' UTC');
  return last > first ? `${start}, ${formatDuration(last - first)}` : start;
}

export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.round(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** The surface that has to be watched completely for the number to be all there was. */
interface Figure {
  readonly count: number;
  readonly title: string;
  readonly surface: string;
}

function countThings(model: RunModel): readonly Figure[] {
  const touched = new Set<string>();
  const written = new Set<string>();
  const endpoints = new Set<string>();
  const programs = new Set<string>();
  let refused = 0;
  for (const row of model.rows) {
    if (row.outcomeClass === 'refused') refused += 1;
    const isDone = row.outcomeClass === 'ok' || row.outcome === 'unknown';
    if (row.kind === 'file' && isDone) {
      touched.add(row.path);
      if (CATEGORIES.indexOf(categoryOf(row)) < CATEGORIES.indexOf('ran')) written.add(row.path);
    }
    if (row.kind === 'network' && row.op === 'connect' && isDone) endpoints.add(row.path);
    if (row.kind === 'program') programs.add(row.path);
  }
  return [
    { count: programs.size, title: 'programs', surface: 'programs' },
    { count: touched.size, title: 'files touched', surface: 'reads' },
    { count: written.size, title: 'of them written', surface: 'changes' },
    { count: endpoints.size, title: 'endpoints reached', surface: 'network' },
    { count: refused, title: 'attempts refused', surface: 'changes' },
    { count: model.changes.length, title: 'changes left', surface: 'changes' },
  ];
}

function makeFigures(model: RunModel): HTMLElement {
  const surfaces = asObject(model.coverage?.surfaces);
  const isWatched = (surface: string): boolean =>
    asObject(surfaces[surface])['status'] === 'complete';
  return make(
    'ul',
    { class: 'figures', 'aria-label': 'The run in numbers' },
    countThings(model).map(({ count, title, surface }) => {
      const number = count.toLocaleString('en-US');
      return make('li', {}, [
        make('strong', {}, [isWatched(surface) ? number : `≥ ${number}`]),
        make('span', {}, [isWatched(surface) ? title : `${title}; not all was watched`]),
      ]);
    }),
  );
}

function makeStatementList(statements: readonly string[]): HTMLElement {
  return make('div', { class: 'statements' }, [
    make('h3', {}, ['What did not happen']),
    make(
      'ul',
      {},
      statements.map((statement) => make('li', {}, [showName(statement, { max: 300 })])),
    ),
    make('p', { class: 'note' }, ['Said only of what was watched completely.']),
  ]);
}
