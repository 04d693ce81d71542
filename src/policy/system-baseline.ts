import type { PolicyData } from './document.ts';
import { escapeLiteral } from './glob.ts';
import type { FsRight, FsRule } from './policy.ts';

/*
 * What every run gets, whatever its policy: the programs and libraries of the system, and the world-readable
 * configuration without which ordinary tools fail. Literal paths only, so that the kernel can enforce each one
 * by itself; a path that does not exist here grants nothing.
 *
 * /etc is a list of entries, never the whole: shadow, gshadow, sudoers, host keys, private TLS keys, machine-id,
 * and credentials of package managers and databases stay out because nothing names them.
 */

const PROGRAMS = [
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib32',
  '/lib64',
  '/libx32',
  '/opt',
  '/nix/store',
  '/snap',
  // NixOS finds its programs through this link.
  '/run/current-system',
];

/** Below /etc. */
const SETTINGS = [
  // the loader and the C library
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'ld.so.preload',
  'ld-musl-x86_64.path',
  'ld-musl-aarch64.path',
  'nsswitch.conf',
  'passwd',
  'group',
  'locale.alias',
  'locale.conf',
  'default/locale',
  'localtime',
  'timezone',
  'xattr.conf',
  'selinux/config',
  // names and addresses
  'hosts',
  'hostname',
  'host.conf',
  'resolv.conf',
  'gai.conf',
  'networks',
  'protocols',
  'services',
  'rpc',
  'netconfig',
  'ethertypes',
  'krb5.conf',
  'gss',
  'ldap/ldap.conf',
  'openldap/ldap.conf',
  'ssh/ssh_config',
  'ssh/ssh_config.d',
  'ssh/ssh_known_hosts',
  // certificates, without any directory that holds private keys
  'ssl/certs',
  'ssl/cert.pem',
  'ssl/ca-bundle.pem',
  'ssl/openssl.cnf',
  'ca-certificates',
  'ca-certificates.conf',
  'pki/ca-trust',
  'pki/tls/certs',
  'pki/tls/cert.pem',
  'pki/tls/openssl.cnf',
  'crypto-policies',
  'gnutls',
  // which system this is
  'os-release',
  'lsb-release',
  'debian_version',
  'redhat-release',
  'fedora-release',
  'system-release',
  'alpine-release',
  'arch-release',
  'NIXOS',
  'alternatives',
  'mtab',
  'shells',
  'static',
  // shells and terminals
  'profile',
  'profile.d',
  'environment',
  'bash.bashrc',
  'bashrc',
  'bash_completion',
  'bash_completion.d',
  'zsh',
  'zshenv',
  'zprofile',
  'zshrc',
  'zlogin',
  'fish',
  'inputrc',
  'terminfo',
  'screenrc',
  'tmux.conf',
  'DIR_COLORS',
  // tools
  'gitconfig',
  'gitattributes',
  'npmrc',
  'pip.conf',
  'curlrc',
  'wgetrc',
  'nanorc',
  'vim',
  'vimrc',
  'emacs',
  'less',
  'lesskey',
  'manpath.config',
  'man_db.conf',
  'magic',
  'magic.mime',
  'mime.types',
  'mailcap',
  'papersize',
  'paperspecs',
  'fonts',
  'xdg',
  'gtk-2.0',
  'gtk-3.0',
  'glvnd',
  'X11/rgb.txt',
  'ImageMagick-6',
  'ImageMagick-7',
  'groff',
  'sgml',
  'xml',
  'gdb',
  'debuginfod',
  'gprofng.rc',
  'dpkg',
  'rpm',
  'postgresql-common',
  // languages
  'perl',
  'python',
  'python3',
  'python3.8',
  'python3.9',
  'python3.10',
  'python3.11',
  'python3.12',
  'python3.13',
  'python3.14',
  'java',
  'java-8-openjdk',
  'java-11-openjdk',
  'java-17-openjdk',
  'java-21-openjdk',
  'java-25-openjdk',
  'maven',
  'gradle',
  'php',
  'ruby',
  'gemrc',
  'R',
];

const STATE = [
  '/proc',
  '/sys/devices/system/cpu',
  '/sys/devices/system/node',
  '/sys/fs/cgroup',
  '/sys/kernel/mm/transparent_hugepage',
  '/var/cache/fontconfig',
  '/var/lib/ca-certificates',
];

/** Where resolv.conf often points to; not in a system directory, so they are looked up like any other path. */
const RESOLVERS = [
  '/run/systemd/resolve/resolv.conf',
  '/run/systemd/resolve/stub-resolv.conf',
  '/run/resolvconf/resolv.conf',
  '/run/NetworkManager/resolv.conf',
  '/mnt/wsl/resolv.conf',
];

const DEVICES = [
  '/dev/null',
  '/dev/zero',
  '/dev/full',
  '/dev/random',
  '/dev/urandom',
  '/dev/tty',
  '/dev/ptmx',
  '/dev/pts',
  // not /dev/fd and /dev/std*: those are links to whatever the program was given, which may be a file outside
];

export const SYSTEM_BASELINE: PolicyData = {
  fs: {
    allow: ['${TMPDIR}', '/dev/shm'],
    exec: PROGRAMS,
    read: [...SETTINGS.map((name) => `/etc/${name}`), ...STATE, ...RESOLVERS],
    write: DEVICES,
  },
};

export const SYSTEM_SOURCE = 'system baseline';

/** The rules of the baseline. Every start makes them, and all but one are what they say, so nothing is expanded. */
export function makeSystemRules(tmpdir: string): FsRule[] {
  const rules: FsRule[] = [];
  const add = (
    key: string,
    rights: readonly FsRight[],
    paths: readonly string[],
    isSystem = true,
  ): void => {
    for (const text of paths)
      rules.push({
        effect: 'allow',
        rights,
        pattern: text,
        isSystem,
        origin: { source: SYSTEM_SOURCE, key, text },
      });
  };
  const all: readonly FsRight[] = ['read', 'write', 'exec'];
  const read: readonly FsRight[] = ['read'];
  const origin = { source: SYSTEM_SOURCE, key: 'fs.allow', text: '${TMPDIR}' };
  rules.push({ effect: 'allow', rights: all, pattern: escapeLiteral(tmpdir), origin });
  add('fs.allow', all, ['/dev/shm']);
  add('fs.exec', ['read', 'exec'], PROGRAMS);
  for (const name of SETTINGS) {
    const text = `/etc/${name}`;
    rules.push({
      effect: 'allow',
      rights: read,
      pattern: text,
      isSystem: true,
      origin: { source: SYSTEM_SOURCE, key: 'fs.read', text },
    });
  }
  add('fs.read', read, STATE);
  add('fs.read', read, RESOLVERS, false);
  add('fs.write', ['read', 'write'], DEVICES);
  return rules;
}
