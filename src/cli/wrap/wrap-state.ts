import { mkdirSync, readFileSync, rmSync, writeFileSync, renameSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { AssayError } from '../../core/errors.ts';
import { sha256Hex } from '../../core/digest.ts';
import type { ServerEntry } from './config-document.ts';
import type { WrapRecord } from './wrap-edits.ts';

const FORMAT = 'assay.wrap.v1';

interface Stored {
  readonly schema: typeof FORMAT;
  readonly file: string;
  readonly servers: Readonly<Record<string, WrapRecord>>;
}

/**
 * What stood in one configuration before, in the person's own state directory: arguments may be secrets, so nobody else
 * can read it.
 */
export class WrapState {
  readonly #file: string;
  readonly #path: string;
  readonly #records: Map<string, WrapRecord>;

  constructor(file: string) {
    this.#file = file;
    const home = process.env['HOME'] ?? homedir();
    const state = process.env['XDG_STATE_HOME'] ?? join(home, '.local/state');
    this.#path = join(state, 'assay/wrap', `${sha256Hex(file).slice(0, 32)}.json`);
    this.#records = new Map(Object.entries(this.#read()));
  }

  get(entry: ServerEntry): WrapRecord | undefined {
    return this.#records.get(toKey(entry));
  }

  set(entry: ServerEntry, record: WrapRecord): void {
    this.#records.set(toKey(entry), record);
  }

  delete(entry: ServerEntry): void {
    this.#records.delete(toKey(entry));
  }

  save(): void {
    if (this.#records.size === 0) {
      rmSync(this.#path, { force: true });
      return;
    }
    const stored: Stored = {
      schema: FORMAT,
      file: this.#file,
      servers: Object.fromEntries(this.#records),
    };
    const partial = `${this.#path}.${process.pid}`;
    try {
      mkdirSync(join(this.#path, '..'), { recursive: true, mode: 0o700 });
      writeFileSync(partial, `${JSON.stringify(stored, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
      renameSync(partial, this.#path);
    } catch (cause) {
      rmSync(partial, { force: true });
      throw new AssayError(
        'E_OUTPUT_NOT_WRITTEN',
        `Cannot keep what --undo needs at "${this.#path}": ${(cause as Error).message}`,
        { hint: 'Nothing was changed', cause },
      );
    }
  }

  #read(): Stored['servers'] {
    try {
      const stored = JSON.parse(readFileSync(this.#path, 'utf8')) as Partial<Stored>;
      return stored.schema === FORMAT && stored.file === this.#file ? (stored.servers ?? {}) : {};
    } catch {
      // None, or not readable: then servers are taken out by what their command means, and that is said.
      return {};
    }
  }
}

function toKey({ name, scope }: ServerEntry): string {
  return scope === undefined ? name : `${scope}\n${name}`;
}
