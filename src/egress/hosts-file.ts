import { readFile, stat } from 'node:fs/promises';

const PATH = '/etc/hosts';
/** Long ones block advertisements; a longer one than this is not read. */
const MAX_BYTES = 32 << 20;

/** The host's own list of names, read again when it has changed. */
export class HostsFile {
  readonly #path: string;
  #version = '';
  #names: ReadonlyMap<string, readonly string[]> = new Map();

  constructor(path: string = PATH) {
    this.#path = path;
  }

  async find(name: string): Promise<readonly string[]> {
    await this.#refresh();
    return this.#names.get(name) ?? [];
  }

  async #refresh(): Promise<void> {
    try {
      const { mtimeMs, size, ino } = await stat(this.#path);
      const version = `${ino} ${size} ${mtimeMs}`;
      if (version === this.#version || size > MAX_BYTES) return;
      this.#names = parseHosts(await readFile(this.#path, 'latin1'));
      this.#version = version;
    } catch {
      this.#names = new Map(); // many machines have none
    }
  }
}

/** `ADDRESS NAME…`, one on a line, with comments behind `#`. */
export function parseHosts(text: string): Map<string, string[]> {
  const names = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [address, ...words] = line.replace(/#.*/, '').trim().split(/\s+/);
    if (address === undefined) continue;
    for (const word of words) {
      const name = word.toLowerCase();
      const known = names.get(name);
      if (known) known.push(address);
      else names.set(name, [address]);
    }
  }
  return names;
}
