import { extname } from 'node:path';
import type { FileChange } from '../backends/sandbox.ts';
import type { WorkspaceSpec } from '../backends/spec.ts';
import { sha256Hex } from '../core/digest.ts';

const PREFIX = '.assay-';
const SHARED_NAME = /^\.assay-main-([0-9a-f]{16})\.[cm]js$/;

/**
 * Code that lies in the workspace, since it names modules beside it. A directory of the host is the workspace of many
 * sandboxes at a time: there each code has a name of its own. It follows from the code, so that equal runs have equal
 * records, and calls with equal code take turns.
 */
export class WorkspaceCode {
  readonly #mode: WorkspaceSpec['mode'] | undefined;
  /** By name, when the last that waits for it is done. */
  readonly #held = new Map<string, Promise<void>>();

  constructor(workspace?: WorkspaceSpec) {
    this.#mode = workspace?.mode;
  }

  get isReadOnly(): boolean {
    return this.#mode === 'ro';
  }

  chooseName(fileName: string, bytes: Uint8Array): string {
    if (!this.#isShared) return `${PREFIX}${fileName}`;
    const ending = extname(fileName);
    const stem = fileName.slice(0, fileName.length - ending.length);
    return `${PREFIX}${stem}-${sha256Hex(bytes).slice(0, 16)}${ending}`;
  }

  /** Resolves when no other call has it, to what gives it back. */
  async hold(name: string): Promise<() => void> {
    if (!this.#isShared) return () => undefined;
    const before = this.#held.get(name);
    let resolve: (() => void) | undefined;
    const mine = new Promise<void>((done) => (resolve = done));
    this.#held.set(name, mine);
    await before;
    return () => {
      if (this.#held.get(name) === mine) this.#held.delete(name);
      resolve?.();
    };
  }

  /** What calls have there now. */
  listHeld(): string[] {
    return [...this.#held.keys()];
  }

  /** Whether a change is that code came or went, and no program's. Never of a file with anything else in it. */
  isOwnChange({ path, change, sha256 }: FileChange, held: readonly string[]): boolean {
    const digest = this.#isShared ? SHARED_NAME.exec(path)?.[1] : undefined;
    if (digest === undefined) return false;
    return change === 'deleted' || (held.includes(path) && sha256?.startsWith(digest) === true);
  }

  get #isShared(): boolean {
    return this.#mode === 'rw';
  }
}
