import { pathInHome } from './place.ts';

/** In the home of the user: what logs in as the user. */
const IN_HOME: readonly string[] = [
  '.ssh',
  '.gnupg',
  '.password-store',
  '.local/share/keyrings',
  '.local/share/kwalletd',
  'Library/Keychains',
  '.netrc',
  '.pgpass',
  '.my.cnf',
  '.npmrc',
  '.pypirc',
  '.yarnrc.yml',
  '.git-credentials',
  '.config/git/credentials',
  '.config/gh/hosts.yml',
  '.config/glab-cli',
  '.config/hub',
  '.aws',
  '.azure',
  '.boto',
  '.s3cfg',
  '.config/gcloud',
  '.config/doctl',
  '.config/rclone',
  '.config/op',
  '.kube',
  '.docker/config.json',
  '.vault-token',
  '.terraform.d/credentials.tfrc.json',
  '.cargo/credentials',
  '.cargo/credentials.toml',
  '.gem/credentials',
  '.claude/.credentials.json',
  '.codex/auth.json',
  '.mozilla',
  '.config/google-chrome',
  '.config/chromium',
  '.config/BraveSoftware',
  '.bitcoin',
  '.ethereum',
  '.electrum',
];

const OF_THE_SYSTEM: readonly string[] = [
  '/etc/shadow',
  '/etc/gshadow',
  '/etc/ssl/private',
  '/etc/krb5.keytab',
  '/run/secrets',
  '/var/run/secrets',
  '/var/lib/sss/secrets',
];

/** By the name of the file, wherever it lies. */
const NAMES =
  /^(?:\.env(?:\..+)?|\.envrc|id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?|ssh_host_\w+_key|(?:.*[-_.])?(?:priv|private|secret)[-_.]?key(?:[-_.].*)?\.(?:pem|der|asc)|(?:.*[-_])?key\.pem|privkey\d*\.pem|.+\.(?:p12|pfx|jks|keystore|kdbx)|.*service[-_]account.*\.json)$/i;

/** Named like a secret, and none: examples and public halves. */
const HARMLESS = /^\.env\.(?:example|sample|template|dist|defaults)$|\.pub$/i;

/** In ~/.ssh: where to go and whom to trust, not how to log in. */
const OPEN_SSH_FILES: ReadonlySet<string> = new Set([
  'known_hosts',
  'known_hosts.old',
  'config',
  'authorized_keys',
]);

/** No file system has longer names. */
const MAX_NAME_LENGTH = 255;

/** Test keys of packages, and the certificates that every machine has. */
const OF_PACKAGES = /\/node_modules\/|\/site-packages\/|^\/(?:usr|lib|lib64|opt|nix)\//;

/** The secret that a path leads to, by the name that it is known by; undefined when it leads to none. */
export function findSecretPath(path: string): string | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (name.length > MAX_NAME_LENGTH || HARMLESS.test(name)) return undefined;
  const inHome = pathInHome(path);
  if (inHome !== undefined) {
    const found = IN_HOME.find((known) => inHome === known || inHome.startsWith(`${known}/`));
    if (found === '.ssh' && OPEN_SSH_FILES.has(name)) return undefined;
    if (found !== undefined) return `~/${found}`;
  }
  if (path.startsWith('/')) {
    const found = OF_THE_SYSTEM.find((known) => path === known || path.startsWith(`${known}/`));
    if (found !== undefined) return found;
  }
  return NAMES.test(name) && !OF_PACKAGES.test(path) ? name : undefined;
}
