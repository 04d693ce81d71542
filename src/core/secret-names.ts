// Which names say that the value beside them is a secret: of environment variables, of command-line flags, of headers
// and of query parameters. Compared in capitals, with `_` between the words.

/** Anywhere in a name, also glued to other words: `accessToken`, `PGPASSWORD`, `SECRET_KEY_BASE`. */
const FRAGMENTS: readonly string[] = [
  'TOKEN',
  'SECRET',
  'PASSW', // PASSWORD, PASSWD
  'PASSPHRASE',
  'PASSCODE',
  'CREDENTIAL',
  'APIKEY',
  'ACCESSKEY',
  'BEARER',
  'COOKIE',
  'MNEMONIC', // the words that open a wallet
  'WEBHOOK', // who knows the address may post
  'DATABASE_URL',
  'CONNECTION_STRING',
  'CONNECTIONSTRING',
  'CONN_STR',
];

/** One word of a name: `API_KEY_2`, `KEY`, `AUTH_HEADER`, `OTP`. */
const WORDS: readonly string[] = [
  'KEY',
  'KEYS',
  'PASS',
  'PW',
  'AUTH',
  'OAUTH',
  'AUTHORIZATION',
  'DSN', // an address with its credentials
  'CRED',
  'CREDS',
  'JWT',
  'OTP',
  'TOTP',
  'PSK',
  'SALT',
];

/** The end of a name, after digits are taken off: `SSHPASS`, `MYSQL_PWD`, `BW_SESSION`, `DB_PASS1`. */
const ENDINGS: readonly string[] = ['PASS', 'PWD', 'KEY', 'AUTH', '_SESSION', '_PAT', '_PIN'];

/** Variables that are caught by the lists above, and no secrets. */
const HARMLESS: ReadonlySet<string> = new Set([
  'PWD',
  'OLDPWD',
  'DESKTOP_SESSION',
  'TOKENIZERS_PARALLELISM',
]);

/** Whether a name alone says that its value is a secret. */
export function isSecretName(name: string): boolean {
  return findSecretNames([name]).size > 0;
}

/**
 * Those of `names` that say it. For a whole environment at once, since a program that has just started runs slowly: the
 * few entries of the lists that occur at all are found first, in one text, and only they are tried on each name.
 */
export function findSecretNames(names: readonly string[]): Set<string> {
  // No name holds a NUL; one may well hold a newline.
  const text = names.join('\0').toUpperCase().replaceAll('-', '_');
  const occurs = (entry: string): boolean => text.includes(entry);
  const fragments = FRAGMENTS.filter(occurs);
  const endings = ENDINGS.filter(occurs);
  const words = new Set(WORDS.filter(occurs));
  const isSecret = (upper: string): boolean => {
    if (fragments.some((fragment) => upper.includes(fragment))) return true;
    const stem = trimDigits(upper);
    if (endings.some((ending) => stem.endsWith(ending))) return true;
    return words.size > 0 && stem.split('_').some((word) => words.has(word));
  };
  const found = new Set<string>();
  if (fragments.length + endings.length + words.size === 0) return found;
  text.split('\0').forEach((upper, index) => {
    if (isSecret(upper) && !isHarmless(upper)) found.add(names[index] ?? '');
  });
  return found;
}

function isHarmless(upper: string): boolean {
  // A budget, as in `MAX_OUTPUT_TOKENS`.
  return HARMLESS.has(upper) || (upper.endsWith('TOKENS') && upper.includes('MAX_'));
}

function trimDigits(name: string): string {
  let end = name.length;
  while (end > 0 && name.charCodeAt(end - 1) >= 48 && name.charCodeAt(end - 1) <= 57) end--;
  return name.slice(0, end);
}
