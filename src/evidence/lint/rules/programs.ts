import { FingerprintSet } from '../fingerprint-set.ts';
import { isLoopbackEndpoint } from '../place.ts';
import type { Check, Detector, EventPlace, Report, SeenEvent } from '../rule.ts';
import { DOWNLOAD_RUN, MADE_RUN } from './control-rules.ts';
import { isMade } from './network.ts';

const WRITING_OPS: ReadonlySet<string> = new Set(['create', 'write', 'truncate', 'rename', 'link']);

/* A bundle may hold millions of events; these are few in any run that was not made to be many. */
const MAX_PROGRAMS = 100_000;
const MAX_MOVES = 100_000;
const MAX_WRITERS = 10_000;
/** How many moves of directories are followed back. */
const MAX_STEPS = 8;

interface Ran {
  readonly path: string;
  readonly by: string;
  readonly at: EventPlace;
}

export const PROGRAMS: Detector = {
  rules: [MADE_RUN, DOWNLOAD_RUN],
  makeCheck: (report) => new ProgramCheck(report),
};

/** Events come sorted, not in time: what ran is compared with what was written when both are known. */
class ProgramCheck implements Check {
  readonly #report: Report;
  readonly #ran = new Map<string, Ran>();
  /** Path and writer. */
  readonly #written = new FingerprintSet();
  readonly #writers = new Set<string>();
  /** Directories whose events were folded, with the programs that wrote in them. */
  readonly #folded = new Map<string, Set<string>>();
  /** By new name: the old one. */
  readonly #moves = new Map<string, string>();
  readonly #online = new Set<string>();

  constructor(report: Report) {
    this.#report = report;
  }

  event({ fact, at }: SeenEvent): void {
    if (fact.kind === 'program') {
      for (const path of fact.target === undefined ? [fact.path] : [fact.path, fact.target])
        if (this.#ran.size < MAX_PROGRAMS && !this.#ran.has(path))
          this.#ran.set(path, { path, by: fact.program, at });
      return;
    }
    if (fact.kind === 'network' || fact.kind === 'folded' || fact.kind === 'file') {
      const { path, target, outcome, program } = fact;
      if (!isMade(outcome)) return;
      const op = fact.op.replace(/^overflow /, '');
      if (op === 'connect') this.#noteConnection(path, program);
      else if (!WRITING_OPS.has(op)) return;
      else if (fact.kind === 'folded') this.#noteFold(path, program);
      else
        this.#noteWrite({
          path: target ?? path,
          from: target === undefined ? undefined : path,
          program,
        });
    }
  }

  end(): void {
    for (const { path, by, at } of this.#ran.values()) {
      const writers = this.#findWriters(path);
      if (writers.length === 0) continue;
      const online = writers.filter((writer) => this.#online.has(writer));
      const rule = online.length > 0 ? DOWNLOAD_RUN : MADE_RUN;
      const [writer = ''] = online.length > 0 ? online : writers;
      const detail = `run by ${by}, written by ${writer}`;
      this.#report(rule, { place: path, op: 'run', subject: path, detail, at });
    }
  }

  #noteConnection(endpoint: string, program: string): void {
    if (endpoint.startsWith('unix:') || isLoopbackEndpoint(endpoint)) return;
    if (this.#online.size < MAX_WRITERS) this.#online.add(program);
  }

  #noteFold(directory: string, program: string): void {
    const programs = this.#folded.get(directory) ?? new Set();
    programs.add(program);
    if (this.#folded.size < MAX_MOVES) this.#folded.set(directory, programs);
  }

  #noteWrite({
    path,
    from,
    program,
  }: {
    path: string;
    from: string | undefined;
    program: string;
  }): void {
    if (this.#writers.size < MAX_WRITERS) this.#writers.add(program);
    if (from !== undefined && this.#moves.size < MAX_MOVES) this.#moves.set(path, from);
    // A move alone makes nothing: what was there before the run stays what it was.
    else if (from === undefined) this.#written.add(`${path}\0${program}`);
  }

  /** The programs that wrote a file, under any name that it has had. */
  #findWriters(path: string): string[] {
    const found = new Set<string>();
    const seen = new Set<string>();
    let names = [path];
    for (let step = 0; step < MAX_STEPS && names.length > 0; step++) {
      for (const name of names) {
        seen.add(name);
        for (const writer of this.#writers)
          if (this.#written.has(`${name}\0${writer}`)) found.add(writer);
        for (const directory of listDirectories(name))
          for (const writer of this.#folded.get(directory) ?? []) found.add(writer);
      }
      names = names.flatMap((name) => this.#formerNames(name)).filter((name) => !seen.has(name));
    }
    return [...found].sort();
  }

  #formerNames(path: string): string[] {
    return [path, ...listDirectories(path)].flatMap((moved) => {
      const from = this.#moves.get(moved);
      return from === undefined ? [] : [from + path.slice(moved.length)];
    });
  }
}

function listDirectories(path: string): string[] {
  const found: string[] = [];
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1))
    found.push(path.slice(0, at));
  return found;
}
