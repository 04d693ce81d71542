import type { Hide } from '../core/known-secrets.ts';
import { redactPath } from '../core/redact.ts';
import { isRedacted, numberMark } from '../core/redaction-mark.ts';

/** So many real names are kept; of the others it is not known how they ended. */
const MAX_HIDDEN = 10_000;

/**
 * Paths as they may be shown. Names that differ only in what is hidden stay apart: the second of them has another mark than
 * the first. The real ones are kept for looking at the files, and leave this process in nothing.
 */
export class ShownNames {
  readonly #hide: Hide;
  /** Directories that assay was given: their own names are no secret, whatever they look like. */
  readonly #given: readonly string[];
  readonly #shown = new Map<string, string>();
  readonly #real = new Map<string, string>();
  readonly #counts = new Map<string, number>();

  constructor(hide: Hide, given: readonly string[] = []) {
    this.#hide = hide;
    this.#given = [...given].filter((path) => path !== '/').sort((a, b) => b.length - a.length);
  }

  show(path: string): string {
    const plain = this.#redact(path);
    if (plain === path) return path;
    const known = this.#shown.get(path);
    if (known !== undefined) return known;
    if (this.#shown.size >= MAX_HIDDEN) return plain;
    const count = (this.#counts.get(plain) ?? 0) + 1;
    const shown = count === 1 ? plain : numberMark(plain, count);
    this.#counts.set(plain, count);
    this.#shown.set(path, shown);
    this.#real.set(shown, path);
    return shown;
  }

  /** The real path; undefined when it is not known. */
  find(shown: string): string | undefined {
    const known = this.#real.get(shown);
    if (known !== undefined || !isRedacted(shown)) return known ?? shown;
    // What lies in a directory that got a hidden name.
    const cut = shown.lastIndexOf('/');
    const above =
      cut > 0 && !isRedacted(shown.slice(cut)) ? this.find(shown.slice(0, cut)) : undefined;
    return above === undefined ? undefined : `${above}${shown.slice(cut)}`;
  }

  #redact(path: string): string {
    const hidden = this.#hide(path);
    const isIn = (dir: string): boolean =>
      path.startsWith(dir) && (path.length === dir.length || path[dir.length] === '/');
    const dir = hidden === path ? this.#given.find(isIn) : undefined;
    if (dir === undefined) return redactPath(hidden);
    return `${dir}${redactPath(path.slice(dir.length))}`;
  }
}

/** A path below a directory, which is shown as `shown`, as that may be shown itself. */
export function showBelow(names: ShownNames, shown: string, below: string): string {
  const real = names.find(shown);
  const path = names.show(`${real ?? shown}/${below}`);
  const depth = below.split('/').length;
  return path.split('/').slice(-depth).join('/');
}
