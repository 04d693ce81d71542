import { draw, make, makeButton } from './elements.ts';
import type { Row, RunModel } from './model.ts';
import { showName, showPath, splitPath, toVisible } from './names.ts';
import { formatDuration } from './overview.ts';
import { listPrograms, type ProgramLine } from './program-lines.ts';
import { growList, makeEmpty, makeSection } from './sections.ts';

/** What one image is seen to have done. */
interface Activity {
  from: number;
  to: number;
  count: number;
  readonly refusals: number[];
}

export interface ProgramsOptions {
  readonly model: RunModel;
  readonly onPick: (image: string) => void;
}

const MAX_DEPTH = 24;
const MAX_MARKS = 60;

/** Which program started which, and when each was first seen. */
export function makePrograms({ model, onPick }: ProgramsOptions): HTMLElement {
  const lines = listPrograms(model.rows);
  const title = 'Programs';
  if (lines.length === 0)
    return makeSection({ id: 'programs', title }, [
      makeEmpty(model, 'No program is in this bundle.'),
    ]);
  const range = findRange(model.rows);
  const activities = findActivities(model.rows);
  const list = make('ol', { class: 'tree' });
  const wrap = make('div', { class: 'tree-wrap' }, [makeAxis(range), list]);
  growList({
    items: lines,
    container: list,
    after: wrap,
    makeItem: (line) => makeLine({ line, range, activity: activities.get(line.image), onPick }),
  });
  return makeSection(
    {
      id: 'programs',
      title,
      note: 'Who started whom. A dot is when a program was first seen, the bar spans what it was first seen doing, and a red mark is a refusal.',
    },
    [wrap],
  );
}

interface Range {
  readonly from: number;
  readonly to: number;
}

function findRange(rows: readonly Row[]): Range {
  let from = Infinity;
  let to = -Infinity;
  for (const { ms } of rows) {
    if (!Number.isFinite(ms)) continue;
    if (ms < from) from = ms;
    if (ms > to) to = ms;
  }
  return Number.isFinite(from) ? { from, to: Math.max(to, from + 1) } : { from: 0, to: 1 };
}

function findActivities(rows: readonly Row[]): Map<string, Activity> {
  const found = new Map<string, Activity>();
  for (const { program, ms, outcomeClass } of rows) {
    if (program === '' || !Number.isFinite(ms)) continue;
    let activity = found.get(program);
    if (!activity) {
      activity = { from: ms, to: ms, count: 0, refusals: [] };
      found.set(program, activity);
    }
    activity.from = Math.min(activity.from, ms);
    activity.to = Math.max(activity.to, ms);
    activity.count += 1;
    if (outcomeClass === 'refused' && activity.refusals.length < MAX_MARKS)
      activity.refusals.push(ms);
  }
  return found;
}

function percent(ms: number, { from, to }: Range): number {
  const share = Number.isFinite(ms) ? ((ms - from) / (to - from)) * 100 : 0;
  return Math.min(Math.max(share, 0), 100);
}

function makeAxis(range: Range): HTMLElement {
  const length = range.to - range.from;
  return make('div', { class: 'tree-axis', 'aria-hidden': 'true' }, [
    make('span', {}, ['0']),
    make('span', {}, [formatDuration(length / 2)]),
    make('span', {}, [formatDuration(length)]),
  ]);
}

interface LineOptions {
  readonly line: ProgramLine;
  readonly range: Range;
  readonly activity: Activity | undefined;
  readonly onPick: (image: string) => void;
}

const MAX_SCRIPTS = 3;

function makeLine({ line, range, activity, onPick }: LineOptions): HTMLElement {
  const { image, scripts, isAgain } = line;
  const since = formatDuration(line.ms - range.from);
  const name = makeButton('', () => onPick(image), {
    class: 'program',
    title: toVisible(image, 400),
    'aria-label': `${toVisible(image)}: first seen after ${since}; show its events`,
  });
  name.append(showName(splitPath(image).base, { max: 60 }));
  const label = make(
    'div',
    { class: 'tree-label', 'data-depth': String(Math.min(line.depth, MAX_DEPTH)) },
    [
      name,
      isAgain ? make('span', { class: 'faint' }, ['see above']) : undefined,
      ...scripts
        .slice(0, MAX_SCRIPTS)
        .map((script) => make('span', { class: 'script' }, [showPath(script, { max: 60 })])),
      scripts.length > MAX_SCRIPTS
        ? make('span', { class: 'faint' }, [`and ${scripts.length - MAX_SCRIPTS} more scripts`])
        : undefined,
    ],
  );
  return make('li', { class: 'tree-line' }, [
    label,
    makeLane({ line, range, activity: isAgain ? undefined : activity, onPick }),
    make('span', { class: 'tree-time' }, [`+${since}`]),
  ]);
}

/** In shares of the width, so that the page may be as wide as it likes. */
function makeLane({ line, range, activity }: LineOptions): SVGSVGElement {
  const lane = draw(
    'svg',
    { class: 'lane', width: '100%', height: 18, 'aria-hidden': 'true', focusable: 'false' },
    [draw('line', { class: 'lane-line', x1: '0%', x2: '100%', y1: 9, y2: 9 })],
  );
  if (activity) {
    const from = percent(Math.min(activity.from, line.ms), range);
    const width = Math.max(percent(activity.to, range) - from, 0.4);
    lane.append(
      draw('rect', {
        class: 'lane-bar',
        x: `${from}%`,
        width: `${width}%`,
        y: 6,
        height: 6,
        rx: 3,
      }),
    );
    for (const ms of activity.refusals) {
      const at = `${percent(ms, range)}%`;
      lane.append(draw('line', { class: 'lane-refusal', x1: at, x2: at, y1: 2, y2: 16 }));
    }
  }
  lane.append(
    draw('circle', { class: 'lane-dot', cx: `${percent(line.ms, range)}%`, cy: 9, r: 4 }),
  );
  return lane;
}
