import { isAtOrBelow, type FileTree } from './file-tree.ts';
import { EXEC, WRITE, type Grant } from './grants.ts';
import type { MountOp } from './plan.ts';

/** Top directories that belong to the system. They stay visible, read-only; all others are hidden. */
const SYSTEM_DIRECTORIES: ReadonlySet<string> = new Set(
  '/bin /dev /etc /lib /lib32 /lib64 /libx32 /nix /opt /proc /sbin /snap /sys /tmp /usr /var'.split(
    ' ',
  ),
);

export interface ViewOptions {
  readonly grants: readonly Grant[];
  readonly tree: FileTree;
  readonly home: string;
  readonly cwd: string;
  /** The scoped directory on the host, which becomes /tmp. */
  readonly tmpdir: string;
  /** A limit on what may be written to /tmp; null for none. */
  /** The most that /dev/shm may hold; it counts as memory. */
  readonly shmBytes?: number | undefined;
  readonly tmpLimit: null | { readonly sizeBytes: number; readonly inodes: number };
  /** Existing places that are refused although something around them is granted. */
  readonly masked: readonly string[];
  /** Existing places that may be read but not written although something around them is writable. */
  readonly readOnly: readonly string[];
  /** Files of our own, in place of the host's. */
  readonly files: readonly (MountOp & { readonly kind: 'file' })[];
  /** Null without a pid namespace. */
  readonly proc: null | { readonly pidMax: number; readonly firstPid: number };
}

const SHM_BYTES = 1 << 30;
/** These become the scoped directory; what else is granted in them is put back on top. */
const PRIVATE_DIRECTORIES = ['/tmp', '/var/tmp'] as const;

function chooseHidden({ grants, tree, home }: ViewOptions): string[] {
  const isWhole = (dir: string): boolean =>
    grants.some(({ path, isGlob }) => !isGlob && isAtOrBelow(dir, path));
  // A link is left as it is: what it leads to is hidden where that is.
  const hidden = tree.topPaths.filter(
    (path) =>
      !SYSTEM_DIRECTORIES.has(path) &&
      tree.isDirectory(path) &&
      tree.realpath(path) === path &&
      !isWhole(path),
  );
  const isHidden = (path: string): boolean => hidden.some((dir) => isAtOrBelow(path, dir));
  const realHome = tree.realpath(home);
  // A home inside a system directory, such as that of a service account.
  const isPrivate = (path: string): boolean =>
    PRIVATE_DIRECTORIES.some((dir) => isAtOrBelow(path, dir));
  if (
    realHome !== null &&
    tree.isDirectory(realHome) &&
    realHome.split('/').length > 2 &&
    !isPrivate(realHome) &&
    !isHidden(realHome) &&
    !isWhole(realHome)
  )
    hidden.push(realHome);
  return hidden;
}

/** A home or a working directory that no rule shows is there all the same, and empty. */
function chooseEmpty({ home, cwd }: ViewOptions, hidden: readonly string[]): MountOp[] {
  return [home, cwd]
    .filter((path) =>
      [...PRIVATE_DIRECTORIES, ...hidden].some((dir) => path !== dir && isAtOrBelow(path, dir)),
    )
    .map((path) => ({ kind: 'directory', path }));
}

/**
 * Granted places that have to be mounted: those inside hidden directories, writable ones, since all else is read-only, and
 * those inside of such a mount that may do more than it.
 */
function chooseBinds({ grants, tmpdir }: ViewOptions, hidden: readonly string[]): MountOp[] {
  const byPath = new Map<string, number>();
  const needed = new Set<string>();
  for (const { path, rights } of grants) {
    const isShown = [...PRIVATE_DIRECTORIES, ...hidden].some((dir) => isAtOrBelow(path, dir));
    if (
      path.startsWith('/dev/') ||
      path === '/' ||
      isAtOrBelow(path, '/proc') ||
      isAtOrBelow(path, tmpdir)
    )
      continue;
    if (isShown || rights & WRITE) needed.add(path);
    byPath.set(path, (byPath.get(path) ?? 0) | rights);
  }
  const sorted = Array.from(byPath).sort(([a], [b]) => (a < b ? -1 : 1));
  const kept: [string, number][] = [];
  for (const [path, own] of sorted) {
    // What is granted above is granted here too: a rule for a part never takes away.
    const around = kept.filter(([parent]) => isAtOrBelow(path, parent));
    const above = around.reduce((all, [, rights]) => all | rights, 0);
    if (around.length > 0 ? (own | above) !== above : needed.has(path))
      kept.push([path, own | above]);
  }
  return kept.map(([path, rights]) => ({
    kind: 'bind',
    source: path,
    path,
    isWritable: (rights & WRITE) !== 0,
    canExec: (rights & EXEC) !== 0,
  }));
}

/** A path that the policy spells through a link still works where the link itself is hidden. */
function chooseLinks(grants: readonly Grant[], hidden: readonly string[]): MountOp[] {
  const links = new Map<string, string>();
  for (const { path, written } of grants)
    if (path !== written && hidden.some((dir) => isAtOrBelow(written, dir)))
      links.set(written, path);
  return Array.from(links, ([path, target]) => ({ kind: 'symlink', path, target }));
}

/** The steps that turn the host's tree into what the program may see. */
export function planView(options: ViewOptions): MountOp[] {
  const { tmpdir, tmpLimit, tree } = options;
  const hidden = chooseHidden(options);
  const scoped = PRIVATE_DIRECTORIES.filter((path) => tree.isDirectory(path)).map(
    (path): MountOp =>
      tmpLimit
        ? { kind: 'tmpfs', path, ...tmpLimit, isShared: false }
        : { kind: 'bind', source: tmpdir, path, isWritable: true, canExec: true },
  );
  const binds = chooseBinds(options, hidden).filter(
    (op) => 'path' in op && !PRIVATE_DIRECTORIES.some((dir) => dir === op.path),
  );
  const ops: MountOp[] = [
    ...hidden.toSorted().map((path): MountOp => ({ kind: 'hide', path })),
    ...scoped,
    ...binds,
    ...chooseEmpty(options, hidden),
  ];
  if (tree.isDirectory('/dev/shm'))
    ops.push({
      kind: 'tmpfs',
      path: '/dev/shm',
      sizeBytes: Math.min(SHM_BYTES, options.shmBytes ?? SHM_BYTES),
      inodes: 0,
      isShared: true,
    });
  for (const path of options.readOnly)
    ops.push({ kind: 'bind', source: path, path, isWritable: false, canExec: true });
  ops.push(...options.files);
  for (const path of options.masked) ops.push({ kind: 'mask', path });
  // The name that TMPDIR gives still leads there.
  if (isAtOrBelow(tmpdir, '/tmp') && tmpdir !== '/tmp')
    ops.push({ kind: 'symlink', path: tmpdir, target: '/tmp' });
  ops.push(...chooseLinks(options.grants, hidden));
  if (tree.isDirectory('/dev/pts')) ops.push({ kind: 'devpts' });
  if (options.proc) ops.push({ kind: 'proc', ...options.proc });
  return ops;
}
