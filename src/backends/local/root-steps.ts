import { lstatSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';

/** One step of making the tree that every sandbox starts from. Paths are inside. */
export type RootStep =
  | { readonly kind: 'directory'; readonly path: string; readonly mode: number }
  | { readonly kind: 'link'; readonly path: string; readonly target: string }
  | { readonly kind: 'file'; readonly path: string; readonly bytes: Uint8Array }
  /** Shows something of the host. */
  | {
      readonly kind: 'bind';
      readonly path: string;
      readonly source: string;
      readonly isReadOnly: boolean;
      readonly isDevice: boolean;
    };

/** Where programs and their libraries are; links on systems where all of it is below /usr. */
const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/nix'];

/** Single settings below /etc that programs look for, and that say nothing about anybody. */
const SETTINGS = [
  'ld.so.cache',
  'ld.so.conf',
  'localtime',
  'timezone',
  'os-release',
  'debian_version',
  'protocols',
  'services',
  'mime.types',
  'locale.alias',
  'inputrc',
  'bash.bashrc',
  'profile',
  'host.conf',
  'gai.conf',
  'ssl/openssl.cnf',
  'python3/debian_config',
];
/** Whole directories below /etc. Each is a mount in every sandbox, so these are few. */
const SETTING_DIRECTORIES = ['alternatives', 'ssl/certs'];

const DEVICES = ['null', 'zero', 'full', 'random', 'urandom', 'tty'];

/** Inside, names lead to the resolver of the doors, if the sandbox has any; else nowhere. */
const RESOLVER = 'nameserver 127.0.0.53\n';
/** One address, so that programs do not try another first that nobody serves. */
const HOSTS = '127.0.0.1 localhost\n::1 ip6-localhost ip6-loopback\n';
const NAME_SERVICES =
  'passwd: files\ngroup: files\nhosts: files dns\nservices: files\nprotocols: files\n';

/** Where a node that lies in somebody's home is shown. */
export const OTHER_NODE = '/opt/node/bin/node';

const directory = (path: string, mode = 0o755): RootStep => ({ kind: 'directory', path, mode });
const link = (path: string, target: string): RootStep => ({ kind: 'link', path, target });
const text = (path: string, value: string): RootStep => ({
  kind: 'file',
  path,
  bytes: Buffer.from(value),
});
const show = (path: string, source = path): RootStep => ({
  kind: 'bind',
  path,
  source,
  isReadOnly: true,
  isDevice: false,
});

function listSystem(): RootStep[] {
  return SYSTEM.flatMap((path) => {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found?.isSymbolicLink()) return [link(path, readlinkSync(path))];
    return found?.isDirectory() ? [show(path)] : [];
  });
}

function readSetting(name: string): RootStep[] {
  try {
    return [{ kind: 'file', path: `/etc/${name}`, bytes: readFileSync(`/etc/${name}`) }];
  } catch {
    return []; // not every system has every one
  }
}

function listSettings({ uid, gid }: Ids): RootStep[] {
  const people = new Map([
    [0, `root:x:0:0::/tmp:/bin/sh\n`],
    [65_534, `nobody:x:65534:65534::/tmp:/usr/sbin/nologin\n`],
    [uid, `sandbox:x:${uid}:${gid}::/tmp:/bin/sh\n`],
  ]);
  const groups = new Map([
    [0, 'root:x:0:\n'],
    [65_534, 'nogroup:x:65534:\n'],
    [gid, `sandbox:x:${gid}:\n`],
  ]);
  return [
    ...['/etc', '/etc/ssl', '/etc/python3'].map((path) => directory(path)),
    ...SETTINGS.flatMap(readSetting),
    ...SETTING_DIRECTORIES.map((name) => `/etc/${name}`)
      .filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isDirectory())
      .map((path) => show(path)),
    text('/etc/passwd', [...people.values()].join('')),
    text('/etc/group', [...groups.values()].join('')),
    text('/etc/hosts', HOSTS),
    text('/etc/hostname', 'sandbox\n'),
    text('/etc/resolv.conf', RESOLVER),
    text('/etc/nsswitch.conf', NAME_SERVICES),
  ];
}

function listDevices(): RootStep[] {
  return [
    directory('/dev'),
    ...DEVICES.map((name): RootStep => ({
      kind: 'bind',
      path: `/dev/${name}`,
      source: `/dev/${name}`,
      isReadOnly: false,
      isDevice: true,
    })),
    directory('/dev/pts'),
    link('/dev/ptmx', 'pts/ptmx'),
    // What is shared there counts as files of the sandbox, and is limited as they are.
    link('/dev/shm', '/tmp'),
    link('/dev/fd', '/proc/self/fd'),
    link('/dev/stdin', '/proc/self/fd/0'),
    link('/dev/stdout', '/proc/self/fd/1'),
    link('/dev/stderr', '/proc/self/fd/2'),
  ];
}

/** Node as it runs this, where no system directory shows it. */
function listNode(): RootStep[] {
  const own = realpathSync.native(process.execPath);
  if (SYSTEM.some((path) => own.startsWith(`${path}/`))) return [];
  return [
    ...['/opt', '/opt/node', '/opt/node/bin'].map((path) => directory(path)),
    show(OTHER_NODE, own),
  ];
}

export interface Ids {
  readonly uid: number;
  readonly gid: number;
}

/** Programs and libraries of the host, a few settings, a few devices, and places for everything else. */
export function listRootSteps(ids: Ids): RootStep[] {
  return [
    ...listSystem(),
    ...listSettings(ids),
    ...listDevices(),
    ...listNode(),
    // Covered in each call by one that shows its own processes only.
    { kind: 'bind', path: '/proc', source: '/proc', isReadOnly: false, isDevice: false },
    directory('/tmp', 0o1777),
    directory('/workspace'),
    directory('/run'),
    directory('/run/code'),
    directory('/sys'),
    directory('/var'),
    link('/var/tmp', '/tmp'),
  ];
}

const KINDS = { directory: 'd', link: 'l', file: 'f', bind: 'b' } as const;
/** mount_setattr(2). */
const ATTRIBUTE = { readOnly: 1, noSetUid: 2, noDevices: 4, noExec: 8 } as const;

function attributesOf({
  path,
  isReadOnly,
  isDevice,
}: RootStep & { readonly kind: 'bind' }): number {
  // A file system for processes can be mounted only where the one of the host is seen as it is.
  if (path === '/proc') return 0;
  const kind = isDevice ? ATTRIBUTE.noExec : ATTRIBUTE.noDevices;
  return ATTRIBUTE.noSetUid | kind | (isReadOnly ? ATTRIBUTE.readOnly : 0);
}

function encodeStep(step: RootStep): Buffer {
  const path = Buffer.from(step.path);
  const [flags, data] =
    step.kind === 'directory'
      ? [step.mode, Buffer.alloc(0)]
      : step.kind === 'link'
        ? [0, Buffer.from(step.target)]
        : step.kind === 'file'
          ? [0, step.bytes]
          : [attributesOf(step), Buffer.from(step.source)];
  const head = Buffer.alloc(16);
  head.writeUInt32LE(KINDS[step.kind].charCodeAt(0), 0);
  head.writeUInt32LE(flags, 4);
  head.writeUInt32LE(path.length, 8);
  head.writeUInt32LE(data.length, 12);
  return Buffer.concat([head, path, data]);
}

/** The script as native/serve.c reads it. */
export function encodeRootScript(ids: Ids, sockets: string, steps: readonly RootStep[]): Buffer {
  const name = Buffer.from(sockets);
  const body = Buffer.concat(steps.map(encodeStep));
  const head = Buffer.alloc(16);
  for (const [index, value] of [ids.uid, ids.gid, name.length, body.length].entries())
    head.writeUInt32LE(value, index * 4);
  return Buffer.concat([head, name, body]);
}
