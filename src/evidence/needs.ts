import type { Event, FileEvent } from '../observe/event.ts';
import { SYSTEM_BASELINE } from '../policy/system-baseline.ts';
import { isTemporary } from './changes.ts';
import { foldPlaces, foldToFew } from './fold-places.ts';
import { makeBroadTest, makePlacer, type Place, type Placer } from './needed-places.ts';
import { makeProtectedPaths, type ProtectedPaths } from './protected-path.ts';
import type { RunRecord } from './run-record.ts';

export type NeededRight = 'read' | 'write' | 'exec';

/**
 * What a policy has to grant for a run like this one, besides the system baseline and the private tmp. Real names, with
 * `${CWD}` and `${HOME}` in front where they apply. Every place was there before the run: a grant for what does not
 * exist yet is none.
 */
export interface Needs {
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly exec: readonly string[];
  /** New names in directories that hold too much to be granted as a whole; `*` stands for what was made up. */
  readonly names: readonly NeededName[];
  /** Places between which something was moved or linked, which one mount has to hold. */
  readonly moves: readonly (readonly [string, string])[];
  /** Protected configuration that was written. */
  readonly configuration: readonly string[];
  /** Sockets outside. */
  readonly unix: readonly string[];
  /** Directories that were read themselves and cannot be granted without all that is in them. */
  readonly listed: readonly string[];
  /** How many different paths were really used. */
  readonly used: Readonly<Record<NeededRight, number>>;
}

export interface NeededName {
  readonly directory: string;
  readonly name: string;
  readonly right: NeededRight;
}

export type NeedsInput = Pick<
  RunRecord,
  'events' | 'programs' | 'overflow' | 'variables' | 'privateTmp'
> & {
  /** The general form of a path, with `<*>` for what programs made up. */
  readonly pathOf: (path: string) => string;
};

/** Mapped to be executed, which a file without that right cannot be. */
const LIBRARY = /\.(?:so(?:\.[\d.]+)?|node)$/;
const MACHINE = ['/proc', '/sys'];

const READ_FOLD = 4;
const WRITE_FOLD = 8;

export function findNeeds(input: NeedsInput): Needs {
  const collector = new NeedCollector(input);
  for (const event of input.events) collector.add(event);
  for (const { image, script } of input.programs) {
    collector.use('exec', image);
    if (script !== undefined) collector.use('exec', script);
  }
  for (const { op, directory, outcome } of input.overflow)
    if (outcome === 'ok' && directory.startsWith('/')) collector.use(rightOf(op), directory);
  return collector.needs;
}

class NeedCollector {
  readonly #input: NeedsInput;
  readonly #placer: Placer;
  readonly #isBroad: (path: string) => boolean;
  readonly #configuration: ProtectedPaths = makeProtectedPaths();
  readonly #baseline = makeBaselineTest();
  readonly #places: Record<NeededRight, Set<string>> = {
    read: new Set(),
    write: new Set(),
    exec: new Set(),
  };
  readonly #used: Record<NeededRight, Set<string>> = {
    read: new Set(),
    write: new Set(),
    exec: new Set(),
  };
  readonly #names = new Map<string, NeededName>();
  readonly #moves = new Map<string, readonly [string, string]>();
  readonly #protected = new Set<string>();
  readonly #unix = new Set<string>();
  readonly #listed = new Set<string>();

  constructor(input: NeedsInput) {
    this.#input = input;
    this.#placer = makePlacer(input.events);
    this.#isBroad = makeBroadTest(input.variables);
  }

  add(event: Event): void {
    if (event.kind === 'network') {
      const isSocket = event.op === 'connect' && event.family === 'unix' && event.outcome === 'ok';
      if (isSocket && event.host.startsWith('/')) this.#useSocket(event.host);
    } else if (event.kind === 'exec') {
      if (event.outcome === 'ok') this.#useBoth('exec', event.path, event.requested);
    } else if (event.kind === 'file' && event.outcome === 'ok') this.#addFile(event);
  }

  use(right: NeededRight, path: string): void {
    if (this.#isGivenAnyway(right, path)) return;
    this.#used[right].add(path);
    if (right === 'write') this.#noteConfiguration(path);
    this.#need(right, path);
  }

  get needs(): Needs {
    const { variables } = this.#input;
    const shown = (paths: Iterable<string>): string[] =>
      Array.from(paths, (path) => abbreviate(path, variables)).sort();
    const fold = (right: NeededRight, count: number): string[] =>
      shown(
        foldToFew(this.#places[right], {
          count,
          isDeep: right === 'read',
          isBroad: this.#isBroad,
        }),
      );
    return {
      read: fold('read', READ_FOLD),
      write: fold('write', WRITE_FOLD),
      exec: fold('exec', READ_FOLD),
      names: [...this.#names.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one),
      moves: [...this.#moves.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one),
      configuration: shown(this.#foldConfiguration()),
      unix: shown(this.#unix),
      listed: shown(this.#listed),
      used: {
        read: this.#used.read.size,
        write: this.#used.write.size,
        exec: this.#used.exec.size,
      },
    };
  }

  #addFile(event: FileEvent): void {
    const { op, path, target } = event;
    if (op === 'read') {
      this.#useBoth(LIBRARY.test(path) ? 'exec' : 'read', path, event.requested);
      return;
    }
    this.use('write', path);
    if ((op !== 'rename' && op !== 'link') || target === undefined) return;
    this.use('write', target);
    if (this.#isGivenAnyway('write', path) || this.#isGivenAnyway('write', target)) return;
    const [from, to] = [path, target].map((end) => this.#show(this.#placer.place(end).path));
    if (from !== undefined && to !== undefined && from !== to)
      this.#moves.set(`${from}\0${to}`, [from, to]);
  }

  /** A name that leads elsewhere has to be seen as well as what it leads to. */
  #useBoth(right: NeededRight, path: string, requested: string | undefined): void {
    this.use(right, path);
    if (!requested?.startsWith('/') || requested === path || /\/\.{0,2}(?:\/|$)/.test(requested))
      return;
    if (!this.#isGivenAnyway(right, requested) && !this.#isInWorkspace(requested))
      this.#need(right, requested);
  }

  #useSocket(path: string): void {
    const place = this.#placer.place(path);
    if (!isTemporary(path, this.#input) && !place.isNew) this.#unix.add(path);
  }

  #need(right: NeededRight, path: string): void {
    // What programs only look at (is it there, how old is it) shows in no record, so the workspace is seen as a whole.
    if (this.#isInWorkspace(path)) this.#places.read.add(this.#input.variables.cwd);
    if (right === 'read' && this.#isInWorkspace(path)) return;
    const place = this.#placer.place(path);
    if (!this.#isBroad(place.path)) this.#places[right].add(place.path);
    else if (place.isNew && place.path !== '/') this.#noteName(right, place);
    else this.#listed.add(place.path);
  }

  #noteName(right: NeededRight, { path, name }: Place): void {
    const form = this.#input.pathOf(`${path}/${name}`);
    const shown = form.includes('<*>') ? form.slice(form.lastIndexOf('/') + 1) : name;
    const directory = this.#show(path);
    this.#names.set(`${directory}\0${shown}\0${right}`, { directory, name: shown, right });
  }

  #noteConfiguration(path: string): void {
    let named = path;
    // Of a name that was made up, the directory, as long as that is still protected.
    while (this.#input.pathOf(named).includes('<*>'))
      named = named.slice(0, named.lastIndexOf('/'));
    if (this.#configuration.find(named) !== undefined) this.#protected.add(named);
  }

  #foldConfiguration(): Set<string> {
    const folded = foldPlaces(this.#protected, {
      count: READ_FOLD,
      isDeep: false,
      isBroad: (path) => this.#configuration.find(path) === undefined,
    });
    const named = new Set(folded);
    // Where a name lifts protection, it comes back for protected names further down.
    for (const path of this.#protected)
      for (let at = path; at !== ''; at = at.slice(0, at.lastIndexOf('/')))
        if (named.has(at) && this.#configuration.find(path.slice(at.length)) !== undefined)
          named.add(path);
    return named;
  }

  #isInWorkspace(path: string): boolean {
    const { cwd } = this.#input.variables;
    return path === cwd || path.startsWith(`${cwd === '/' ? '' : cwd}/`);
  }

  #isGivenAnyway(right: NeededRight, path: string): boolean {
    if (isTemporary(path, this.#input) || this.#baseline(right, path)) return true;
    return right !== 'read' && MACHINE.some((dir) => path.startsWith(`${dir}/`));
  }

  #show(path: string): string {
    return abbreviate(path, this.#input.variables);
  }
}

function rightOf(op: string): NeededRight {
  return op === 'read' || op === 'exec' ? op : 'write';
}

/** Whether the system baseline grants a right on a path. */
function makeBaselineTest(): (right: NeededRight, path: string) => boolean {
  const { allow = [], read = [], write = [], exec = [] } = SYSTEM_BASELINE.fs ?? {};
  const granted: Record<NeededRight, ReadonlySet<string>> = {
    read: new Set([...allow, ...read, ...write, ...exec]),
    write: new Set([...allow, ...write]),
    exec: new Set([...allow, ...exec]),
  };
  return (right, path) => {
    for (let at = path; at !== ''; at = at.slice(0, at.lastIndexOf('/')))
      if (granted[right].has(at)) return true;
    return false;
  };
}

function abbreviate(path: string, { cwd, home }: NeedsInput['variables']): string {
  for (const [prefix, token] of [
    [cwd, '${CWD}'],
    [home, '${HOME}'],
  ] as const) {
    if (prefix === '/' || prefix === '') continue;
    if (path === prefix || path.startsWith(`${prefix}/`)) return token + path.slice(prefix.length);
  }
  return path;
}
