// Which names say that the value beside them is a secret: of environment variables, of command-line flags, of headers
// and of query parameters. Compared in capitals, with `_` between the words.

/** Anywhere in a name, also glued to other words: `accessToken`, `PGPASSWORD`, `SECRET_KEY_BASE`. */
const FRAGMENTS: readonly string[] = [
  'TOKEN',
  'SECRET',
  'PASSW', // PASSWORD, PASSWD
  'PASSPHRASE',
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
const WORDS: ReadonlySet<string> = new Set([
  'KEY',
  'KEYS',
  'PASS',
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
]);

/** The end of a name, after digits are taken off: `SSHPASS`, `MYSQL_PWD`, `BW_SESSION`, `DB_PASS1`. */
const ENDINGS: readonly string[] = ['PASS', 'PWD', 'KEY', 'AUTH', '_SESSION', '_PAT', '_PIN'];

/** Caught by the lists above, and no secrets. */
const HARMLESS: ReadonlySet<string> = new Set([
  'PWD',
  'OLDPWD',
  'DESKTOP_SESSION',
  'TOKENIZERS_PARALLELISM',
]);
/** A budget, as in `MAX_OUTPUT_TOKENS`. */
const HARMLESS_ENDING = /(?:^|_)MAX_(?:[A-Z]+_)?TOKENS$/;

/** Whether a name alone says that its value is a secret. */
export function isSecretName(name: string): boolean {
  const upper = name.toUpperCase().replaceAll('-', '_');
  if (FRAGMENTS.some((fragment) => upper.includes(fragment))) return !isHarmless(upper);
  const stem = trimDigits(upper);
  if (ENDINGS.some((ending) => stem.endsWith(ending))) return !isHarmless(upper);
  return stem.includes('_') ? stem.split('_').some((word) => WORDS.has(word)) : WORDS.has(stem);
}

function isHarmless(upper: string): boolean {
  return HARMLESS.has(upper) || HARMLESS_ENDING.test(upper);
}

function trimDigits(name: string): string {
  let end = name.length;
  while (end > 0 && name.charCodeAt(end - 1) >= 48 && name.charCodeAt(end - 1) <= 57) end--;
  return name.slice(0, end);
}
