import type { GitDir } from './git-aftermath.ts';

/** What the helper wrote behind the plan, line by line. */
export interface HelperReport {
  /** The step that failed before the program started. */
  readonly failed?:
    { readonly step: string; readonly what: string; readonly errno: number } | undefined;
  /** The Landlock version that the kernel really has, when the plan was made for another. */
  readonly abi?: number | undefined;
  /** Why the program could not be executed. */
  readonly execErrno?: number | undefined;
  readonly end?: HelperEnd | undefined;
  readonly refusals: readonly RefusalLine[];
  readonly refusalCount: number;
  /** Paths that are not there inside, as bytes, one code unit each. */
  readonly absent: readonly string[];
  readonly gitDirs: readonly GitDir[];
  /** Directories in which the run made a `.git` that is no directory. */
  readonly gitFileDirs: readonly Buffer[];
  /** Lines that could not be read: what they said is lost. */
  readonly damagedLines: number;
  /** Whether anything of the program was recorded, and whether the recorder came to its own end. */
  readonly hasRecord: boolean;
  readonly isRecordWhole: boolean;
  /** There were as many processes as there may be. */
  readonly reachedPids?: boolean | undefined;
  /** Of a run that somebody holds. */
  readonly usage?: HelperUsage | undefined;
}

export interface HelperEnd {
  readonly code: number;
  readonly signal: number;
  readonly timedOut: boolean;
  readonly limit: string;
  readonly ms: number;
}

/** Of everything that ran, and of the largest process of it. */
export interface HelperUsage {
  readonly cpuMs: number;
  readonly maxRssKb: number;
}

export interface RefusalLine {
  readonly op: string;
  /** As bytes, one code unit each. */
  readonly path: string;
  /** A broker rule by its id; -2 when nothing allows it, -1 when the git guard refused, -3 a foreign socket. */
  readonly rule: number;
  readonly errno: number;
}

interface Line {
  readonly failed?: string;
  readonly what?: string;
  readonly errno?: number;
  readonly abi?: number;
  readonly exec?: number;
  readonly end?: HelperEnd;
  readonly e?: readonly [number, number, string, string, string, number, string, number];
  readonly refusals?: number;
  readonly absent?: string;
  readonly gitDir?: string;
  readonly born?: boolean;
  readonly gitFileIn?: string;
  readonly full?: string;
  readonly usage?: HelperUsage;
}

/** Lines of the record: events, programs, command lines, counts. All but refusals are only passed on. */
const RECORD_KEYS: ReadonlySet<string> = new Set([
  'e',
  'p',
  'a',
  'c',
  'n',
  's',
  'pids',
  'lost',
  'unread',
]);
/**
 * The error and the rule of an event that was refused. A quote inside a name has a backslash before it, and before a
 * whole name there is never a number, so no name looks like this; the text of a link may.
 */
const REFUSED = /\d,"[pod]",-?[1-9]/;

/** Refusals go by wider words than events do. */
const REFUSED_OPS: Readonly<Record<string, string>> = {
  create: 'write',
  truncate: 'write',
  mkdir: 'create',
  mknod: 'create',
  symlink: 'create',
  unlink: 'remove',
  rmdir: 'remove',
  chmod: 'attributes',
  chown: 'attributes',
  utimes: 'attributes',
  xattr: 'attributes',
};

export function toRefusedOp(op: string): string {
  return REFUSED_OPS[op] ?? op;
}

/** A full disk can cut a line short; the others still count. */
function readLine(raw: string): Line | undefined {
  try {
    return JSON.parse(raw) as Line;
  } catch {
    return undefined;
  }
}

/** Takes the report as it grows. Lines of the record are passed on as they are. */
export class ReportReader {
  private rest = '';
  private readonly refusals: RefusalLine[] = [];
  private refusalCount = 0;
  private readonly absent: string[] = [];
  private readonly gitDirs: GitDir[] = [];
  private readonly gitFileDirs: Buffer[] = [];
  private damagedLines = 0;
  private hasRecord = false;
  private isRecordWhole = false;
  private once: Pick<
    HelperReport,
    'failed' | 'abi' | 'execErrno' | 'end' | 'reachedPids' | 'usage'
  > = {};
  private readonly onRecord: ((lines: string) => void) | undefined;

  constructor(onRecord?: (lines: string) => void) {
    this.onRecord = onRecord;
  }

  feed(chunk: string): void {
    const lines = (this.rest + chunk).split('\n');
    this.rest = lines.pop() ?? '';
    const passedOn: string[] = [];
    for (const raw of lines) {
      if (!raw) continue;
      const isRecord = RECORD_KEYS.has(raw.slice(2, raw.indexOf('"', 2)));
      if (isRecord && this.onRecord) passedOn.push(raw);
      if (!isRecord || REFUSED.test(raw)) this.read(raw);
    }
    this.hasRecord ||= passedOn.length > 0;
    if (passedOn.length > 0) this.onRecord?.(`${passedOn.join('\n')}\n`);
  }

  finish(): HelperReport {
    if (this.rest) this.feed('\n');
    const { refusals, absent, gitDirs, gitFileDirs } = this;
    const { damagedLines, hasRecord, isRecordWhole } = this;
    return {
      ...this.once,
      refusals,
      absent,
      gitDirs,
      gitFileDirs,
      damagedLines,
      hasRecord,
      isRecordWhole,
      refusalCount: Math.max(this.refusalCount, refusals.length),
    };
  }

  private read(raw: string): void {
    const line = readLine(raw);
    if (!line) {
      this.damagedLines += 1;
      return;
    }
    if (line.failed !== undefined && !this.once.failed)
      this.once = {
        ...this.once,
        failed: {
          step: line.failed,
          what: Buffer.from(line.what ?? '', 'latin1').toString(),
          errno: line.errno ?? 0,
        },
      };
    if (line.abi !== undefined) this.once = { ...this.once, abi: line.abi };
    if (line.exec !== undefined) this.once = { ...this.once, execErrno: line.exec };
    if (line.full === 'pids') this.once = { ...this.once, reachedPids: true };
    if (line.usage) this.once = { ...this.once, usage: line.usage };
    if (line.end) this.once = { ...this.once, end: line.end };
    // The text of a link follows the rule, and can look like one.
    if (line.e && line.e[7] !== 0) {
      const [, , op, path, , errno, , rule] = line.e;
      const place = path.replace(/^unix:/, '');
      this.refusals.push({ op: toRefusedOp(op), path: place, rule, errno });
    }
    if (line.refusals !== undefined) {
      this.refusalCount = line.refusals;
      this.isRecordWhole = true; // the recorder's last word
    }
    if (line.absent !== undefined) this.absent.push(line.absent);
    if (line.gitDir !== undefined)
      this.gitDirs.push({ path: Buffer.from(line.gitDir, 'latin1'), isBorn: line.born === true });
    if (line.gitFileIn !== undefined) this.gitFileDirs.push(Buffer.from(line.gitFileIn, 'latin1'));
  }
}
