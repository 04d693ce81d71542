import { spellName } from '../core/name-bytes.ts';
import type { FileChange, Sandbox } from '../backends/sandbox.ts';
import { WorkspaceCode } from './workspace-code.ts';

/** What is known of the files of a sandbox between two calls, so that each call is told of its own changes only. */
export class FileState {
  /** By path, what differs from how the sandbox was made. */
  readonly #known = new Map<string, FileChange>();

  /** Somebody outside has written this. */
  noteWritten(name: string, sha256: string): void {
    const path = spellName(name);
    const before = this.#known.get(path);
    this.#known.set(path, { path, change: before?.change ?? 'added', sha256 });
  }

  /** What the program inside has changed since. */
  async collect(sandbox: Sandbox, workspaceCode = new WorkspaceCode()): Promise<FileChange[]> {
    const held = workspaceCode.listHeld();
    const found = await sandbox.changes();
    // Other calls may have come while it was looked at.
    held.push(...workspaceCode.listHeld());
    const now = found.filter((file) => !workspaceCode.isOwnChange(file, held));
    const changes = [
      ...now.flatMap((file) => this.#compare(file)),
      ...this.#findReverted(new Set(now.map(({ path }) => path))),
    ];
    this.#known.clear();
    for (const file of now) this.#known.set(file.path, file);
    return changes.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  }

  #compare(file: FileChange): FileChange[] {
    const before = this.#known.get(file.path);
    if (!before) return [file];
    if (before.change === 'deleted' || file.change === 'deleted')
      return before.change === file.change
        ? []
        : [{ ...file, change: file.change === 'deleted' ? 'deleted' : 'added' }];
    return before.sha256 === file.sha256 ? [] : [{ ...file, change: 'modified' }];
  }

  /** What used to differ and is now as it was when the sandbox was made. */
  #findReverted(still: ReadonlySet<string>): FileChange[] {
    const back = { added: 'deleted', modified: 'modified', deleted: 'added' } as const;
    return [...this.#known.values()]
      .filter(({ path }) => !still.has(path))
      .map(({ path, change }) => ({ path, change: back[change] }));
  }
}
