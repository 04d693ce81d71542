import { isLoopbackHost, isUnspecifiedHost, parseEndpoint } from '../claims/endpoint.ts';
import { isOutsideWorkspace } from '../claims/write-place.ts';
import type { Facet } from './difference.ts';

/** As the older format calls them. */
const OLDER_PLACES: readonly (readonly [RegExp, string])[] = [
  [/^\.(?=\/|$)/, '${CWD}'],
  [/^~(?=\/|$)/, '${HOME}'],
  [/^\$\{ASSAY_TMP\}(?=\/|$)/, '${TMPDIR}'],
];
/** Pipes, sockets and memory have names, too. */
const PLACE = /^(?:\/(?!memfd:)|\$\{|\.\.)/;
/** Netlink speaks with the kernel only. */
const NETLINK = '16';

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

export function toGeneralForm(path: string): string {
  for (const [pattern, place] of OLDER_PLACES)
    if (pattern.test(path)) return path.replace(pattern, () => place);
  return path;
}

export function isOutside(path: string): boolean {
  const general = toGeneralForm(path);
  return PLACE.test(general) && isOutsideWorkspace(general);
}

/** The path itself, and where it was moved or linked to. */
export function listWritten(subject: string, facet: Facet): string[] {
  const { op, target } = facet;
  if (op === 'link' && target !== undefined) return [target];
  return op === 'rename' && target !== undefined ? [subject, target] : [subject];
}

/** Whether using an endpoint reaches beyond the sandbox, or lets somebody in. */
export function leadsOut(endpoint: string, op: string, isHostNetwork: boolean): boolean {
  const { family, host } = parseEndpoint(endpoint);
  if (family === NETLINK) return false;
  if (family === 'unix') {
    if (op === 'bind') return false;
    return host.startsWith('@') ? isHostNetwork : isOutside(host) || !isOwnSocket(host);
  }
  if (op === 'bind') return isHostNetwork && !isLoopbackHost(host);
  return isHostNetwork || !(isLoopbackHost(host) || isUnspecifiedHost(host));
}

/** In the private tmp; in the workspace anybody may listen. */
function isOwnSocket(path: string): boolean {
  return path.startsWith('${TMPDIR}/');
}
