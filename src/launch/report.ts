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
  /** Paths that are not there inside. */
  readonly absent: readonly string[];
  readonly gitDirs: readonly GitDir[];
  /** Lines that could not be read: what they said is lost. */
  readonly damagedLines: number;
}

export interface HelperEnd {
  readonly code: number;
  readonly signal: number;
  readonly timedOut: boolean;
  readonly limit: string;
  readonly ms: number;
}

export interface RefusalLine {
  readonly op: string;
  readonly path: string;
  /** A broker rule by its id; 0 when nothing allows it, -1 when the git guard refused. */
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
  readonly refused?: RefusalLine;
  readonly refusals?: number;
  readonly absent?: string;
  readonly gitDir?: string;
  readonly born?: boolean;
}

/** Names are bytes; the helper escapes each byte outside ASCII as one code unit, and this puts them together again. */
function decodeBytes(text: string): string {
  return Buffer.from(text, 'latin1').toString('utf8');
}

/** A full disk can cut a line short; the others still count. */
function readLine(raw: string): Line | undefined {
  try {
    return JSON.parse(raw) as Line;
  } catch {
    return undefined;
  }
}

export function parseReport(text: string): HelperReport {
  const report = {
    refusals: [] as RefusalLine[],
    refusalCount: 0,
    absent: [] as string[],
    gitDirs: [] as GitDir[],
    damagedLines: 0,
  };
  let rest: Pick<HelperReport, 'failed' | 'abi' | 'execErrno' | 'end'> = {};
  for (const raw of text.split('\n')) {
    if (!raw) continue;
    const line = readLine(raw);
    if (!line) {
      report.damagedLines += 1;
      continue;
    }
    if (line.failed !== undefined && !rest.failed)
      rest = {
        ...rest,
        failed: { step: line.failed, what: decodeBytes(line.what ?? ''), errno: line.errno ?? 0 },
      };
    if (line.abi !== undefined) rest = { ...rest, abi: line.abi };
    if (line.exec !== undefined) rest = { ...rest, execErrno: line.exec };
    if (line.end) rest = { ...rest, end: line.end };
    if (line.refused)
      report.refusals.push({ ...line.refused, path: decodeBytes(line.refused.path) });
    if (line.refusals !== undefined) report.refusalCount = line.refusals;
    if (line.absent !== undefined) report.absent.push(decodeBytes(line.absent));
    if (line.gitDir !== undefined)
      report.gitDirs.push({ path: Buffer.from(line.gitDir, 'latin1'), isBorn: line.born === true });
  }
  return {
    ...rest,
    ...report,
    refusalCount: Math.max(report.refusalCount, report.refusals.length),
  };
}
