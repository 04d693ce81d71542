import type { Group, JudgedDifference, Kind } from '../evidence/diff/difference.ts';
import { describeDifference, type ShowName } from './diff-phrases.ts';

export interface DiffLine {
  readonly mark: '+' | '-' | '~';
  readonly subject: string;
  /** More than one where a directory stands for what is in it. */
  readonly count: number;
  readonly phrase: string;
}

export interface DiffSection {
  readonly title: string;
  /** Something that a reviewer should see before anything else. */
  readonly isGrave: boolean;
  readonly count: number;
  readonly lines: readonly DiffLine[];
}

const KIND_TITLES: Readonly<Record<Kind, string>> = {
  'new-host': 'New egress',
  'new-write-outside': 'New writes outside the workspace',
  'new-write-config': 'New writes to protected configuration',
  'new-program': 'New programs',
  'new-denial': 'New denials',
  'coverage-loss': 'Coverage lost',
  degradation: 'New degradations',
  'layer-loss': 'Layers lost',
  'policy-weakened': 'Policy weakened',
  'policy-change': 'Policy changed',
  'changed-program': 'Changed programs',
  'new-endpoint': 'New local endpoints',
  'new-environment': 'New variables',
  'command-change': 'Command',
  'end-change': 'End',
};

const GRAVE: ReadonlySet<Kind> = new Set([
  'new-host',
  'new-write-outside',
  'new-write-config',
  'new-program',
  'new-denial',
  'coverage-loss',
  'degradation',
  'layer-loss',
  'policy-weakened',
]);

const GROUP_TITLES: Readonly<Record<Group, string>> = {
  network: 'Network',
  files: 'Files',
  programs: 'Programs',
  refusals: 'Denials',
  coverage: 'Coverage',
  folded: 'Directories with too many files to list',
  degradations: 'Degradations gone',
  layers: 'Layers',
  policy: 'Policy',
  environment: 'Environment',
  run: 'Run',
  limits: 'Limits',
  events: 'Other events',
  'system-reads': 'System files read',
};

const MARKS = { new: '+', gone: '-', changed: '~' } as const;
const IMPLIED: Readonly<Partial<Record<Kind, readonly Kind[]>>> = {
  'new-host': ['new-endpoint'],
  'new-program': ['changed-program'],
  'policy-weakened': ['policy-change'],
};
/** Shorter lists are read faster than what they would be folded into. */
const MIN_TO_FOLD = 12;
const MIN_IN_DIRECTORY = 3;
const MAX_NAME = 240;

/** Each difference once, under the gravest thing that it amounts to. */
export function makeSections(
  differences: readonly JudgedDifference[],
  show: ShowName,
): DiffSection[] {
  const byTitle = new Map<string, JudgedDifference[]>();
  const titles = [...Object.values(KIND_TITLES), ...Object.values(GROUP_TITLES)];
  for (const difference of differences) {
    const title = titleOf(difference);
    const own = byTitle.get(title);
    if (own) own.push(difference);
    else byTitle.set(title, [difference]);
  }
  return [...new Set(titles)].flatMap((title) => {
    const own = byTitle.get(title) ?? [];
    const [first] = own;
    if (!first) return [];
    const lines = foldLines(own.map((difference) => makeLine(difference, show)));
    const isGrave = first.kinds[0] !== undefined && GRAVE.has(first.kinds[0]);
    return [{ title, isGrave, count: own.length, lines }];
  });
}

function titleOf({ kinds: [kind], group }: JudgedDifference): string {
  return kind === undefined ? GROUP_TITLES[group] : KIND_TITLES[kind];
}

function makeLine(difference: JudgedDifference, show: ShowName): DiffLine {
  const [first, ...others] = difference.kinds;
  const implied = (first === undefined ? undefined : IMPLIED[first]) ?? [];
  const also = others.filter((kind) => !implied.includes(kind));
  const phrase = describeDifference(difference, show);
  return {
    mark: MARKS[difference.change],
    subject: cut(difference.subject),
    count: 1,
    phrase: also.length > 0 ? `${phrase} [also ${also.join(', ')}]` : phrase,
  };
}

/** Many files of one directory that had the same done to them are one line. */
function foldLines(lines: readonly DiffLine[]): readonly DiffLine[] {
  if (lines.length < MIN_TO_FOLD) return lines;
  const folds = new Map<string, { count: number; isShown: boolean }>();
  const foldOf = lines.map(({ mark, subject, phrase }) => {
    const key = `${mark}${directoryOf(subject)}\0${phrase}`;
    let fold = folds.get(key);
    if (!fold) folds.set(key, (fold = { count: 0, isShown: false }));
    fold.count += 1;
    return fold;
  });
  return lines.flatMap((line, at) => {
    const fold = foldOf[at];
    const directory = directoryOf(line.subject);
    if (!fold || directory === '' || fold.count < MIN_IN_DIRECTORY) return [line];
    if (fold.isShown) return [];
    fold.isShown = true;
    return [{ ...line, subject: `${directory}/`, count: fold.count }];
  });
}

function directoryOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

function cut(name: string): string {
  return name.length <= MAX_NAME ? name : `${name.slice(0, MAX_NAME - 60)} … ${name.slice(-50)}`;
}
