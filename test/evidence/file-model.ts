import { compareStates } from '../../src/evidence/final-state.ts';
import type { FinalState } from '../../src/evidence/run-record.ts';
import { listMovedDirectories, listTouched } from '../../src/evidence/touched-paths.ts';
import type { Event, FileEvent, FileOp, FileState } from '../../src/observe/event.ts';

/** A small file tree that tells of each operation what the recorder would. */
type File = { kind: 'file'; id: number; version: number };
type Directory = { kind: 'directory'; id: number; names: Map<string, Entry> };
type Entry = File | Directory;

export type Operation =
  | { op: 'create' | 'write' | 'unlink' | 'mkdir' | 'rmdir' | 'chmod' | 'open'; path: string }
  | { op: 'rename' | 'link' | 'exchange'; path: string; target: string };

export class FileModel {
  readonly events: FileEvent[] = [];
  readonly #root: Directory = { kind: 'directory', id: 0, names: new Map() };
  #lastId = 0;

  perform(operation: Operation): void {
    const { op, path } = operation;
    const parent = this.#parent(path);
    if (!parent) return;
    const name = path.slice(path.lastIndexOf('/') + 1);
    const entry = parent.names.get(name);
    if ('target' in operation) this.#place(operation, entry, parent, name);
    else if (op === 'create' && !entry) {
      parent.names.set(name, { kind: 'file', id: ++this.#lastId, version: 0 });
      this.#tell('create', path);
    } else if (op === 'mkdir' && !entry) {
      parent.names.set(name, { kind: 'directory', id: ++this.#lastId, names: new Map() });
      this.#tell('mkdir', path, { isDirectory: true });
    } else if (!entry) return;
    else if ((op === 'write' || op === 'open') && entry.kind === 'file') {
      this.#tell('write', path, { before: toState(entry) });
      if (op === 'write') entry.version++;
    } else if (op === 'unlink' && entry.kind === 'file') {
      parent.names.delete(name);
      this.#tell('unlink', path, { before: toState(entry) });
    } else if (op === 'rmdir' && entry.kind === 'directory' && entry.names.size === 0) {
      parent.names.delete(name);
      this.#tell('rmdir', path, { isDirectory: true });
    } else if (op === 'chmod')
      this.#tell('chmod', path, { isDirectory: entry.kind !== 'file', before: toState(entry) });
  }

  scan(): Map<string, string> {
    return new Map(Array.from(this.#list(), ([path, entry]) => [path, toText(entry)]));
  }

  #list(): Map<string, Entry> {
    const found = new Map<string, Entry>();
    const visit = (directory: Directory, path: string): void => {
      for (const [name, entry] of directory.names) {
        found.set(`${path}/${name}`, entry);
        if (entry.kind === 'directory') visit(entry, `${path}/${name}`);
      }
    };
    visit(this.#root, '');
    return found;
  }

  /** From here on it is the run. */
  start(): void {
    this.events.length = 0;
  }

  /** What whoever looks afterwards knows, who was told these. */
  finish(events: readonly Event[]): {
    finalStates: Map<string, FinalState>;
    movedContents: Map<string, string[]>;
  } {
    const now = this.#list();
    const finalStates = new Map<string, FinalState>();
    for (const [path, before] of listTouched(events)) {
      const entry = now.get(path);
      const isDirectory = entry?.kind === 'directory';
      finalStates.set(
        path,
        compareStates(before, entry ? { ...toState(entry), isDirectory } : null),
      );
    }
    const movedContents = new Map<string, string[]>();
    for (const target of listMovedDirectories(events))
      if (now.get(target)?.kind === 'directory')
        movedContents.set(
          target,
          Array.from(now.keys())
            .filter((one) => one.startsWith(`${target}/`))
            .map(
              (one) =>
                one.slice(target.length + 1) + (now.get(one)?.kind === 'directory' ? '/' : ''),
            ),
        );
    return { finalStates, movedContents };
  }

  #place(
    { op, path, target }: Operation & { target: string },
    entry: Entry | undefined,
    parent: Directory,
    name: string,
  ): void {
    const into = this.#parent(target);
    if (!into || !entry || target === path || target.startsWith(`${path}/`)) return;
    const last = target.slice(target.lastIndexOf('/') + 1);
    const there = into.names.get(last);
    if (op === 'link') {
      if (there || entry.kind !== 'file') return;
      into.names.set(last, entry);
      this.#tell('link', path, { target, before: toState(entry) });
      return;
    }
    const isDirectory = entry.kind === 'directory';
    // Between two names of one file nothing happens.
    if (there === entry) {
      this.#tell('rename', path, { target, isReplacing: true, move: 'none' });
      return;
    }
    if (op === 'exchange') {
      if (!there || path.startsWith(`${target}/`)) return;
      parent.names.set(name, there);
      into.names.set(last, entry);
      const isReplacing = true;
      const states = { before: toState(entry), targetBefore: toState(there) };
      this.#tell('rename', path, { target, isDirectory, isReplacing, move: 'exchange', ...states });
      this.#tell('rename', target, {
        target: path,
        isDirectory: there.kind === 'directory',
        isReplacing,
        move: 'back',
      });
      return;
    }
    if (there && there.kind !== entry.kind) return;
    if (there?.kind === 'directory' && there.names.size > 0) return;
    parent.names.delete(name);
    into.names.set(last, entry);
    this.#tell('rename', path, {
      target,
      isDirectory,
      isReplacing: there !== undefined,
      before: toState(entry),
      ...(there && { targetBefore: toState(there) }),
    });
  }

  #parent(path: string): Directory | undefined {
    let at: Directory = this.#root;
    for (const name of path.split('/').slice(1, -1)) {
      const next = at.names.get(name);
      if (next?.kind !== 'directory') return undefined;
      at = next;
    }
    return at;
  }

  #tell(op: FileOp, path: string, more: Partial<FileEvent> = {}): void {
    this.events.push({
      kind: 'file',
      op,
      path,
      outcome: 'ok',
      basis: 'performed',
      program: 1,
      count: 1,
      atMs: 0,
      ...more,
    });
  }
}

function toText(entry: Entry): string {
  return entry.kind === 'directory' ? 'directory' : `${entry.id}:${entry.version}`;
}

function toState(entry: Entry): FileState {
  const version = entry.kind === 'file' ? entry.version : 0;
  return {
    dev: '1',
    ino: String(entry.id),
    size: 0,
    mtimeNs: String(version),
    ctimeNs: String(version),
  };
}

/** As the helper reports: each distinct thing once, where it was first seen, and once more after a directory was moved. */
export function reportOnce(events: readonly FileEvent[]): Event[] {
  const seen = new Set<string>();
  let turn = 0;
  return events.filter(({ op, path, target, isDirectory, move }) => {
    if (op === 'rename' && isDirectory) turn++;
    if (op === 'rename' && (isDirectory || move)) return true;
    const key = JSON.stringify([op, path, target, turn]);
    return !seen.has(key) && seen.add(key);
  });
}

/** The real difference of two scans; directories end in a slash. */
export function compareScans(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): { created: string[]; removed: string[]; modified: string[] } {
  const mark = (path: string, state: string | undefined): string =>
    state === 'directory' ? `${path}/` : path;
  const difference = { created: [] as string[], removed: [] as string[], modified: [] as string[] };
  for (const path of [...new Set([...before.keys(), ...after.keys()])].sort()) {
    const [was, is] = [before.get(path), after.get(path)];
    if (was === undefined) difference.created.push(mark(path, is));
    else if (is === undefined) difference.removed.push(mark(path, was));
    else if (was !== is) difference.modified.push(mark(path, is));
  }
  return difference;
}
