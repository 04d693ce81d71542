import type { Event, FileEvent } from '../observe/event.ts';
import { decide } from '../policy/decide.ts';
import { matchPattern } from '../policy/glob.ts';
import type { FsRule, NetRule } from '../policy/policy.ts';
import { makeBaselineTest } from './baseline-grants.ts';
import { isTemporary } from './changes.ts';
import { foldToFew } from './fold-places.ts';
import { findKept } from './kept-places.ts';
import { NamedConfiguration } from './named-configuration.ts';
import { makeBroadTest, makePlacer, type Place, type Placer } from './needed-places.ts';
import { escapeLiteral } from './normalise/places.ts';
import { findRefused, isRefusing, type RefusedPlaces, withParents } from './refused-places.ts';
import { listRefusingRules, type RefusingRules } from './refusing-rules.ts';
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
  /** New names in directories that hold too much to be granted as a whole, or more than the run was given. */
  readonly names: readonly NeededName[];
  /** Places between which something was moved or linked, which one mount has to hold. */
  readonly moves: readonly (readonly [string, string])[];
  /** Protected configuration that was written. */
  readonly configuration: readonly string[];
  /** Sockets outside. */
  readonly unix: readonly string[];
  /** Directories that were read themselves and cannot be granted without all that is in them. */
  readonly listed: readonly string[];
  /** Directories that are granted for a name in them of which a part is hidden. */
  readonly hiding: readonly string[];
  /** What was refused, or kept out of sight, for want of a rule that allows it. Nothing at or below was used. */
  readonly refused: Readonly<Record<NeededRight, readonly string[]>>;
  /** What the policy of the run refuses whatever allows it. */
  readonly rules: RefusingRules;
  /** How many different paths were really used. */
  readonly used: Readonly<Record<NeededRight, number>>;
}

export interface NeededName {
  readonly directory: string;
  /** In the general form: `<*>` stands for what was made up. */
  readonly name: string;
  readonly right: NeededRight;
}

export type NeedsInput = Pick<
  RunRecord,
  'events' | 'programs' | 'overflow' | 'variables' | 'privateTmp' | 'coverage' | 'hidden' | 'mode'
> & {
  /** Of the policy that the run had; none where it is not known. */
  readonly rules: readonly FsRule[];
  readonly netRules: readonly NetRule[];
  /** The general form of a path, with `<*>` for what programs made up. */
  readonly pathOf: (path: string) => string;
};

/** Mapped to be executed, which a file without that right cannot be. */
const LIBRARY = /\.(?:so(?:\.\d[\w.+-]*)?|node)$/;
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
  collector.seeWorkspace();
  if (input.coverage.reads.status === 'absent') collector.keepReadable();
  return collector.needs;
}

class NeedCollector {
  readonly #input: NeedsInput;
  readonly #placer: Placer;
  readonly #isBroad: (path: string) => boolean;
  readonly #configuration: NamedConfiguration;
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
  readonly #kept: Record<NeededRight, Set<string>> = {
    read: new Set(),
    write: new Set(),
    exec: new Set(),
  };
  readonly #names = new Map<string, NeededName>();
  readonly #moves = new Map<string, readonly [string, string]>();
  readonly #unix = new Set<string>();
  readonly #listed = new Set<string>();
  readonly #allowed = new Map<string, boolean>();
  /** What was opened and is no directory. */
  readonly #files = new Set<string>();
  readonly #hiding = new Set<string>();
  readonly #refused: RefusedPlaces;
  /** What was refused, and everything above it. */
  readonly #aboveRefused: RefusedPlaces;
  readonly #refusing: readonly FsRule[];
  readonly #isWorkspaceSeen: boolean;

  constructor(input: NeedsInput) {
    this.#input = input;
    this.#placer = makePlacer(input.events);
    this.#isBroad = makeBroadTest(input.variables);
    this.#refused = findRefused(input);
    this.#aboveRefused = {
      read: withParents(this.#refused.read),
      write: withParents(this.#refused.write),
      exec: withParents(this.#refused.exec),
    };
    this.#refusing = input.rules.filter(isRefusing);
    this.#configuration = new NamedConfiguration(input);
    this.#isWorkspaceSeen = this.#canSeeWorkspace();
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
    if (this.#isGivenAnyway(right, path) || this.#isDenied(right, path)) return;
    this.#used[right].add(path);
    if (right === 'write') this.#configuration.note(path);
    this.#need(right, path);
  }

  /**
   * What programs only look at (is it there, how old is it) shows in no record, so the workspace is seen as the run saw
   * it: as a whole, or what its policy names in it. One that is too broad is not.
   */
  seeWorkspace(): void {
    const { rules, variables } = this.#input;
    if (this.#isWorkspaceSeen) this.#places.read.add(variables.cwd);
    else if (!this.#isBroad(variables.cwd))
      for (const { path } of findKept(rules, variables))
        if (this.#isInWorkspace(path) && !this.#isBroad(path)) this.#kept.read.add(path);
  }

  /** What nobody saw being read is needed as far as the policy of the run gave it. */
  keepReadable(): void {
    const { rules, variables } = this.#input;
    for (const { right, path } of findKept(rules, variables))
      if (!this.#isGivenAnyway(right, path) && !this.#isBroad(path)) this.#kept[right].add(path);
  }

  get needs(): Needs {
    const { variables } = this.#input;
    const shown = (paths: Iterable<string>): string[] =>
      Array.from(paths, (path) => abbreviate(path, variables)).sort();
    const fold = (right: NeededRight, count: number): string[] => {
      const few = foldToFew(this.#places[right], {
        count,
        isDeep: right === 'read',
        isBroad: (path) => this.#isBroad(path) || this.#holdsRefused(right, path),
      });
      return shown(new Set([...few, ...this.#kept[right]]));
    };
    return {
      read: fold('read', READ_FOLD),
      write: fold('write', WRITE_FOLD),
      exec: fold('exec', READ_FOLD),
      names: [...this.#names.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one),
      moves: [...this.#moves.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one),
      configuration: shown(this.#configuration.list((path) => this.#holdsRefused('write', path))),
      unix: shown(this.#unix),
      listed: shown(this.#listed),
      hiding: shown(this.#hiding),
      refused: this.#listRefused(),
      rules: listRefusingRules({
        policy: { fs: this.#input.rules, net: this.#input.netRules },
        show: (path) => this.#show(path),
      }),
      used: {
        read: this.#used.read.size,
        write: this.#used.write.size,
        exec: this.#used.exec.size,
      },
    };
  }

  #addFile(event: FileEvent): void {
    const { op, path, target } = event;
    if ((op === 'read' || op === 'write') && !event.isDirectory) this.#files.add(path);
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
    const asked = requested === undefined ? path : this.#findAsked(path, requested);
    if (asked === path || /\/\.{0,2}(?:\/|$)/.test(asked)) return;
    const isSeen = this.#isWorkspaceSeen && this.#isInWorkspace(asked);
    if (!this.#isGivenAnyway(right, asked) && !this.#isDenied(right, asked) && !isSeen)
      this.#need(right, asked);
  }

  /** A relative name is taken from the workspace, where most programs stay; if no link was on the way, it is the path. */
  #findAsked(path: string, requested: string): string {
    if (requested.startsWith('/')) return requested;
    if (this.#isWorkspaceSeen || path.endsWith(`/${requested}`)) return path;
    const asked = `${this.#input.variables.cwd}/${requested}`;
    return this.#isAllowed('read', asked) ? asked : path;
  }

  #useSocket(path: string): void {
    const place = this.#placer.place(path);
    if (!isTemporary(path, this.#input) && !place.isNew) this.#unix.add(path);
  }

  #need(right: NeededRight, path: string): void {
    if (right === 'read' && this.#isWorkspaceSeen && this.#isInWorkspace(path)) return;
    const place = this.#placer.place(path);
    const isBroad = this.#isBroad(place.path) && !this.#files.has(place.path);
    // Where the policy speaks of the directory by another name, it allows neither.
    const isByName =
      place.isNew &&
      !this.#isAllowed(right, place.path) &&
      (place.isHidden || this.#isAllowed(right, path));
    if (!isByName && !isBroad) {
      this.#places[right].add(place.path);
      if (place.isHidden) this.#hiding.add(place.path);
    } else if (place.isNew && place.path !== '/') this.#noteName(right, place);
    else this.#listed.add(place.path);
  }

  #noteName(right: NeededRight, { path, name }: Place): void {
    const form = this.#input.pathOf(`${path}/${name}`);
    const shown = form.includes('<*>')
      ? form.slice(form.lastIndexOf('/') + 1)
      : escapeLiteral(name);
    const directory = this.#show(path);
    this.#names.set(`${directory}\0${shown}\0${right}`, { directory, name: shown, right });
  }

  /** Whether the run saw its workspace as a whole, and it is no more than a workspace. */
  #canSeeWorkspace(): boolean {
    const { rules, variables, mode } = this.#input;
    const { cwd } = variables;
    if (this.#isBroad(cwd) || this.#isGivenAnyway('read', cwd)) return false;
    if (mode === 'dry-run' || rules.length === 0) return true;
    return findKept(rules, variables).some(({ path }) => path === cwd);
  }

  /** Whether something at or below a directory was refused that a right on the directory would give. */
  #holdsRefused(right: NeededRight, directory: string): boolean {
    const { read, [right]: own } = this.#aboveRefused;
    return read.has(directory) || own.has(directory);
  }

  /** Places at or above what was used are left out: to refuse them would refuse that. */
  #listRefused(): Record<NeededRight, string[]> {
    const { read, write, exec } = this.#used;
    const used = withParents([...read, ...write, ...exec]);
    const list = (right: NeededRight): string[] =>
      foldToFew(
        [...this.#refused[right]].filter((path) => !used.has(path)),
        {
          count: WRITE_FOLD,
          isDeep: false,
          isBroad: (path) => this.#isBroad(path) || used.has(path),
        },
      ).map((path) => this.#show(path));
    return { read: list('read'), write: list('write'), exec: list('exec') };
  }

  /** Whether the policy of the run allows it; where there was no boundary, everything was. */
  #isAllowed(right: NeededRight, path: string): boolean {
    const { rules, mode, variables } = this.#input;
    if (mode === 'dry-run' || rules.length === 0) return true;
    const key = `${right} ${path}`;
    let isAllowed = this.#allowed.get(key);
    if (isAllowed === undefined) {
      const { outcome } = decide({ fs: rules }, { op: right, path, tmpdir: variables.tmpdir });
      isAllowed = outcome === 'allow';
      this.#allowed.set(key, isAllowed);
    }
    return isAllowed;
  }

  #isDenied(right: NeededRight, path: string): boolean {
    return this.#refusing.some(
      ({ rights, pattern }) => rights.includes(right) && matchPattern(pattern, path),
    );
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
