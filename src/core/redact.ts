import { isSecretName } from './secret-names.ts';

/** Stands where a secret was, so that a reader sees that something is left out. */
export const REDACTED = '[redacted]';

/** Tokens that tell by their shape what they are, wherever they stand. */
const TOKEN = new RegExp(
  [
    '-----BEGIN [A-Z ]*PRIVATE KEY-----(?:[^-]*-----END [A-Z ]*PRIVATE KEY-----)?',
    // What follows must not run on from a word: `task-list` is no `sk-` token.
    `(?<![A-Za-z0-9])(?:${[
      'gh[opsru]_[A-Za-z0-9]{16,}', // GitHub
      'github_pat_\\w{16,}',
      'glpat-[\\w-]{16,}', // GitLab
      'sk-(?=[\\w-]{0,64}\\d)[\\w-]{16,}', // OpenAI, Anthropic (sk-ant-) and those who copy them
      '[sr]k_(?:live|test)_\\w{10,}', // Stripe
      'xox[a-z]-[\\w-]{10,}', // Slack
      'xapp-[\\w-]{10,}',
      'A(?:KI|SI)A[0-9A-Z]{16}', // AWS key ids
      'AIza[\\w-]{30,}', // Google
      'ya29\\.[\\w-]{20,}',
      'npm_[A-Za-z0-9]{30,}',
      'pypi-[\\w-]{30,}',
      'hf_[A-Za-z0-9]{30,}', // Hugging Face
      'do[op]_v1_[a-f0-9]{32,}', // DigitalOcean
      'SG\\.[\\w-]{16,}\\.[\\w-]{16,}', // SendGrid
      'hv[sb]\\.[\\w-]{20,}', // Vault
      'AGE-SECRET-KEY-1[0-9A-Z]{20,}',
      'eyJ[\\w-]{8,}\\.[\\w-]{8,}\\.[\\w-]*', // JSON Web Token
    ].join('|')})`,
  ].join('|'),
  'g',
);

/**
 * Credentials in an address. With a password in any scheme; without one in http only, where the name itself is the
 * token (`https://TOKEN@host`), while `ssh://git@host` names a role. A port before a path is not a password.
 */
const USERINFO =
  /(:\/\/)[^\s/@:]*:(?!\d{1,5}(?:[/?#\s]|$))[^\s@]{0,500}@|(https?:\/\/)[^\s/@:?#]{1,500}@/gi;

/** A name and what joins it to its value: `name=`, `--name=`, `name: ` of a header, `"name": ` of JSON. */
const NAME = /(?<![\w.-])-{0,2}([A-Za-z_][\w.-]{0,100})["']?\s?[=:]\s?/g;

/** `--name value` inside one argument, such as a script for `sh -c`. */
const FLAG = /(?<![\w-])--([A-Za-z][\w-]{0,100})\s{1,8}(?=[^\s-])/g;

const VALUE = /"(?:[^"\\]|\\.)*"?|'[^']*'?|(?:(?:Bearer|Basic|Token|Digest)\s{1,8})?[^\s&;'"]+/isy;

const SCHEME = /(?<!\w)(Bearer|Basic)(\s{1,8})[\w+/=.~-]{8,}/gi;

/** Whether a value holds a credential that its form gives away. Cheap enough for every environment variable. */
export function hasCredential(value: string): boolean {
  if (value.length < 10) return false;
  if (value.includes('://') && value.search(USERINFO) !== -1) return true;
  return value.search(TOKEN) !== -1;
}

/** Takes the credentials out of a text for display. Values that nothing gives away stay. */
export function redactText(text: string): string {
  let result = text;
  if (result.includes('@')) result = result.replace(USERINFO, `$1$2${REDACTED}@`);
  if (result.length >= 10) result = result.replace(TOKEN, REDACTED);
  if (result.includes('=') || result.includes(':')) result = hideAfter(NAME, result);
  if (result.includes(' ')) {
    result = hideAfter(FLAG, result.replace(SCHEME, `$1$2${REDACTED}`));
  }
  return result;
}

/** Takes credentials out of a path. */
export function redactPath(path: string): string {
  return path;
}

/** Hides the value after each match of `pattern` whose first group is a secret's name. */
function hideAfter(pattern: RegExp, text: string): string {
  const names = new RegExp(pattern);
  const values = new RegExp(VALUE);
  let result = '';
  let copied = 0;
  for (let found = names.exec(text); found; found = names.exec(text)) {
    if (!isSecretName(found[1] ?? '')) continue;
    values.lastIndex = names.lastIndex;
    const value = values.exec(text)?.[0];
    const isScheme = text[names.lastIndex - 1] === ':' && value?.startsWith('//');
    if (value === undefined || isScheme) continue;
    result += text.slice(copied, names.lastIndex) + REDACTED;
    copied = names.lastIndex + value.length;
    names.lastIndex = copied;
  }
  return result + text.slice(copied);
}

interface SecretFlag {
  readonly flag: string;
  /** The program asks when nothing is glued to the flag: the next argument is something else. */
  readonly isGluedOnly?: boolean;
}

/** Flags whose name does not tell, by program. */
const PROGRAM_FLAGS: Readonly<Record<string, readonly SecretFlag[]>> = {
  curl: [{ flag: '-u' }, { flag: '--user' }, { flag: '-U' }, { flag: '--proxy-user' }],
  mysql: [{ flag: '-p', isGluedOnly: true }],
  mysqldump: [{ flag: '-p', isGluedOnly: true }],
  mariadb: [{ flag: '-p', isGluedOnly: true }],
  sshpass: [{ flag: '-p' }],
  'redis-cli': [{ flag: '-a' }],
};

/** A command line for display: redactText on each argument, and the argument after a flag such as `--password`. */
export function redactArgv(argv: readonly string[]): string[] {
  // The program need not come first: `sudo mysql -psecret`.
  let flags: readonly SecretFlag[] = [];
  let isNextSecret = false;
  return argv.map((argument) => {
    const isFlag = argument.length > 1 && argument.startsWith('-');
    if (isNextSecret && !isFlag) {
      isNextSecret = false;
      return REDACTED;
    }
    const program = argument.slice(argument.lastIndexOf('/') + 1);
    if (Object.hasOwn(PROGRAM_FLAGS, program)) flags = PROGRAM_FLAGS[program] ?? [];
    const known = isFlag ? flags.find(({ flag }) => argument.startsWith(flag)) : undefined;
    isNextSecret = known?.flag === argument ? !known.isGluedOnly : isFlag && isSecretFlag(argument);
    return hideInArgument(argument, known?.flag);
  });
}

function hideInArgument(argument: string, known: string | undefined): string {
  if (known?.length === 2 && argument.length > 2) return known + REDACTED;
  const equals = argument.indexOf('=');
  if (equals > 0) {
    const name = argument.slice(0, equals);
    if (name === known || isSecretFlag(name)) return `${name}=${REDACTED}`;
  }
  return redactText(argument);
}

/** One dash counts before a word: `-token`, as Go programs spell it. No dash at all is `env`'s `NAME=value`. */
function isSecretFlag(argument: string): boolean {
  const name = argument.replace(/^--?/, '');
  return name.length > 2 && /^[\w.-]+$/.test(name) && isSecretName(name);
}
