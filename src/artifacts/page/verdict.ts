import type { Controls } from '../../evidence/evidence.ts';
import { make, makePill } from './elements.ts';
import { asList, asObject, asText, asTexts, type RunModel } from './model.ts';
import { showName, toVisible } from './names.ts';
import { formatCount } from './sections.ts';

export interface RunVerdict {
  readonly tone: 'good' | 'warn' | 'bad' | 'plain';
  readonly title: string;
  readonly details: readonly string[];
}

/** The answer in one line, from what the summary and the coverage of the run say. */
export function judgeRun(model: RunModel): RunVerdict {
  const controls = asObject(model.summary.controls) as Partial<Controls>;
  const verdicts = ['egress', 'writes', 'configuration'].map((name) =>
    asText(asObject(asObject(controls)[name])['verdict']),
  );
  const details = [describeEnd(model), describeWatching(model)].filter((text) => text !== '');
  if (verdicts.every((verdict) => verdict === ''))
    return {
      tone: 'plain',
      title: 'This bundle says nothing about a boundary',
      details: [
        'It lists what was recorded; it has no verdict on egress, writes or configuration.',
      ],
    };
  const refused = countRefused(model);
  if (asText(model.started.mode) === 'dry-run')
    return { tone: 'warn', title: 'A dry run: nothing was blocked', details };
  if (verdicts.includes('not enforced'))
    return { tone: 'bad', title: 'Not everything was enforced', details };
  if (verdicts.includes('partly enforced'))
    return { tone: 'warn', title: 'The boundary was enforced in part', details };
  if (verdicts.some((verdict) => verdict !== 'held' && verdict !== 'refused attempts'))
    return { tone: 'warn', title: 'The boundary is described in words unknown here', details };
  if (refused > 0)
    return {
      tone: 'good',
      title: `The boundary held: ${formatCount(refused, 'attempt was', 'attempts were')} refused`,
      details,
    };
  return { tone: 'good', title: 'The boundary held, and nothing was refused', details };
}

function countRefused(model: RunModel): number {
  const { refusal_count: count } = model.summary;
  return typeof count === 'number'
    ? count
    : model.rows.filter(({ outcomeClass }) => outcomeClass === 'refused').length;
}

function describeEnd(model: RunModel): string {
  const end = asObject(model.summary.end);
  if (asText(end['exec_error']) !== '')
    return `The command could not be started (${toVisible(asText(end['exec_error']))}).`;
  if (end['timed_out'] === true) return 'The command ran out of time and was stopped.';
  if (asText(end['limit']) !== '')
    return `The command was stopped by a limit (${toVisible(asText(end['limit']))}).`;
  if (typeof end['signal'] === 'number' && end['signal'] > 0)
    return `The command was ended by signal ${end['signal']}.`;
  if (typeof end['exit_code'] === 'number')
    return `The command ended with exit code ${end['exit_code']}.`;
  return '';
}

function describeWatching(model: RunModel): string {
  const surfaces = Object.entries(asObject(model.coverage?.surfaces));
  if (surfaces.length === 0) return '';
  const lacking = surfaces
    .filter(([, surface]) => asObject(surface)['status'] !== 'complete')
    .map(
      ([name, surface]) => `${toVisible(name)} ${toVisible(asText(asObject(surface)['status']))}`,
    );
  return lacking.length === 0
    ? 'Everything was watched completely.'
    : `Not everything was watched: ${lacking.join(', ')}.`;
}

const CONTROL_TITLES = {
  egress: 'Egress',
  writes: 'File writes',
  configuration: 'Configuration',
} as const;

const CONTROL_USED = {
  egress: 'Connected to',
  writes: 'Written in',
  configuration: 'Changed',
} as const;

const CONTROL_UNUSED = {
  egress: 'No connection was made',
  writes: 'Nothing was written',
  configuration: 'No protected file was changed',
} as const;

const TONES: ReadonlyMap<string, string> = new Map([
  ['held', 'good'],
  ['refused attempts', 'good'],
  ['partly enforced', 'warn'],
  ['not enforced', 'bad'],
]);

const MAX_USED = 6;

/** What got out, what was written, what will run later. */
export function makeControlCards(model: RunModel): HTMLElement | undefined {
  const controls = asObject(model.summary.controls);
  if (Object.keys(controls).length === 0) return undefined;
  const names = Object.keys(CONTROL_TITLES) as (keyof typeof CONTROL_TITLES)[];
  return make(
    'div',
    { class: 'cards', role: 'group', 'aria-label': 'The three controls' },
    names.map((name) => makeControlCard(name, asObject(controls[name]))),
  );
}

function makeControlCard(
  name: keyof typeof CONTROL_TITLES,
  control: Readonly<Record<string, unknown>>,
): HTMLElement {
  const verdict = asText(control['verdict']);
  const used = asTexts(control['used']);
  const reasons = asTexts(control['reasons']);
  const refused = typeof control['refused'] === 'number' ? control['refused'] : 0;
  const coverage = asText(control['coverage']);
  const isSure = coverage === 'complete';
  return make('article', { class: 'card control', 'data-tone': TONES.get(verdict) ?? 'warn' }, [
    make('header', {}, [
      make('h3', {}, [CONTROL_TITLES[name]]),
      makePill(verdict === '' ? 'not stated' : toVisible(verdict), TONES.get(verdict) ?? 'warn'),
    ]),
    used.length === 0
      ? make('p', {}, [
          isSure ? `${CONTROL_UNUSED[name]}.` : 'Nothing was seen; it was not watched completely.',
        ])
      : make('div', { class: 'used' }, [make('p', {}, [CONTROL_USED[name]]), listUsed(used)]),
    ...reasons.map((reason) => make('p', { class: 'reason' }, [toVisible(reason, 300)])),
    make('p', { class: 'card-foot' }, [
      refused === 0 ? 'no refusals' : formatCount(refused, 'refusal'),
      ` · coverage ${toVisible(coverage === '' ? 'not stated' : coverage)}`,
    ]),
  ]);
}

function listUsed(used: readonly string[]): HTMLElement {
  const items: HTMLElement[] = used
    .slice(0, MAX_USED)
    .map((item) => make('li', {}, [showName(item, { max: 80 })]));
  if (used.length > MAX_USED)
    items.push(make('li', { class: 'faint' }, [`and ${used.length - MAX_USED} more`]));
  return make('ul', { class: 'plain' }, items);
}

/** What did not happen, as far as the run was watched. */
export function listStatements(model: RunModel): readonly string[] {
  return asList(model.summary.statements).map(asText);
}
