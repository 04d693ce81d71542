import type { Facet } from './difference.ts';

/** What a write to such a file changes is the device, the terminal or the process itself. */
const NO_FILE =
  /^\/(?:dev\/(?:null|zero|full|tty|ptmx|random|urandom|std(?:in|out|err)|fd\/.*|pts\/.*)|memfd:.*|proc\/(?:self|\$\{PID\})\/.*)$/s;
/** The workspace and the private tmp; also as the older format writes them. */
const INSIDE = /^(?:\$\{(?:CWD|TMPDIR|ASSAY_TMP)\}|\.)(?:\/(?!\.\.(?:\/|$))|$)/;
const LOOPBACK = /^(?:\w+:)?(?:127\.|\[::1\]|\[::ffff:127\.|localhost(?::|$))/;
const OWN_SOCKET = /^unix:(?:@|\$\{TMPDIR\})/;

/** Operations by what they do to a file; what is not here changes nothing. */
const EFFECTS: Readonly<Record<string, string>> = {
  write: 'write',
  create: 'write',
  truncate: 'write',
  created: 'write',
  modified: 'write',
  mkdir: 'mkdir',
  mknod: 'mknod',
  symlink: 'symlink',
  link: 'link',
  rename: 'rename',
  unlink: 'remove',
  rmdir: 'remove',
  removed: 'remove',
  meta: 'meta',
  attributes: 'meta',
  'chmod+x': 'chmod+x',
  'chmod+s': 'chmod+s',
};

/** Whether it came about; a refused attempt did not. */
export function isDone({ outcome = 'ok', rule }: Facet): boolean {
  return outcome === 'ok' || outcome === '*' || (outcome === 'unknown' && rule === undefined);
}

/** What was done to the file, or undefined when it was not changed. */
export function effectOf(facet: Facet): string | undefined {
  if (!isDone(facet)) return undefined;
  const op = facet['op'] ?? '';
  if (op === 'created' && facet['type'] === 'directory') return 'mkdir';
  return Object.hasOwn(EFFECTS, op) ? EFFECTS[op] : undefined;
}

export function isOutside(path: string): boolean {
  if (INSIDE.test(path) || NO_FILE.test(path)) return false;
  return /^(?:[/~]|\$\{|\.\.)/.test(path);
}

/** The path itself, and where it was moved or linked to. */
export function listWritten(subject: string, facet: Facet): string[] {
  const { op, target } = facet;
  if (op === 'link' && target !== undefined) return [target];
  return op === 'rename' && target !== undefined ? [subject, target] : [subject];
}

export function isLoopbackHost(endpoint: string): boolean {
  return LOOPBACK.test(endpoint);
}

/** Sockets between the programs of the run. */
export function isOwnSocket(endpoint: string): boolean {
  return OWN_SOCKET.test(endpoint);
}
