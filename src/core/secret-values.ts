import { isSecretName } from './secret-names.ts';

/** Ends of names that are about a secret: its file, its kind, its life. */
const ABOUT = new RegExp(
  `(?:^|_)(?:${[
    'files?|paths?|dir|directory|folder|jar|store|fd|sock|socket|stdin|prompt|env|helper|manager|agent|plugin',
    'backend|driver|engine|provider|server|endpoint|host|port|realm|type|kind|class|format|mode|method|scheme',
    'algorithm|algo|alg|policy|version|status|names?|index|field|column|length|len|size|bits|bytes|limit|count',
    'budget|usage|ttl|age|expiry|expires|expiration|timeout|duration|lifetime|rotation|scopes?|required|enabled',
    'disabled|only|checking|verification|key_id',
  ].join('|')})$`,
);

/** Names that hold a word of a secret, and another meaning. */
const OTHER_MEANING = new RegExp(
  [
    '^(?:no|without|skip|disable)_',
    'tokeni[sz]|cookiecutter',
    '(?:^|_)(?:mon|tur|don|hot|joc|hoc|whis|lac|new)keys?$|(?:com|by|tres|sur)pass$',
    `(?:^|_)(?:${[
      'public|pub|sort|primary|foreign|partition|cache|restore|routing|object|recv|send|list|import|export|host',
      'map|dict|group|range|lookup|unique|index|idempotency|web_socket',
    ].join('|')})_?keys?$`,
    // `key_schema`, `key_usage`, but not `key_pass`; `pass_arg`, but not `pass_phrase`
    '^pass_(?!phrase|word|wd|code|key)[a-z]',
    '^keys?_(?!pass|pwd|secret|token|material|data|base|value|\\d)[a-z]',
  ].join('|'),
);

/** Names that are as often followed by a file, a method or a place as by a secret. */
const DOUBTFUL =
  /(?:^|_)(?:(?:private|ssl|ssh|tls|rsa|deploy|sign|gpg)?keys?|auth|oauth|cookies?|salt|session|creds?|credentials?|secret_id)$/;
/** Of those, the ones that are not: `api_key`, and npm's `_auth`. */
const CERTAIN =
  /(?:api|access|secret|app|account|storage|shared|master|encryption|auth|admin|service|webhook|license)_?key$|(?:^|[_:])_auth$/;

/** Of a switch, or of a type: `token: string`; code may go on behind it. */
const SWITCH =
  /^(?:true|false|yes|no|on|off|none|null|undefined|string|number|boolean)[,;)\]}]{0,3}$/i;
const FILE =
  /^(?:~|\.{0,2}\/)|\.(?:pem|key|crt|cer|pub|json|ya?ml|toml|txt|p12|pfx|jks|asc|gpg|der|conf|cfg|ini|env|[jt]sx?|py|rb|go)$/i;
/** `basic`, `user-id`, `2,2n`, `alias/app`. */
const WORDS = /^(?:[A-Za-z]{1,24}(?:[-_./ ][A-Za-z]{1,24}){0,6}|\d{1,6}(?:[.,]\d{1,6})?[a-z]?)$/;
/** How somebody is known, or of what kind a key is; a field to sort by. */
const METHOD = new RegExp(
  `^(?:${[
    'oauth[12]?|ntlmv?\\d?|md5|sha-?\\d{1,3}|scram-sha-\\d{1,3}|rsa-?\\d{0,5}|(?:ed|x)(?:25519|448)|aes-?\\d{3}(?:-[a-z]{3})?',
    '[hrep]s\\d{3}|(?:aws-?)?sigv?4|x509|pkcs\\d{1,2}|fido2|u2f|v\\d',
    '\\d{1,3}(?:\\.\\d{1,3})?[a-z]{0,3}(?:,\\d{1,3}(?:\\.\\d{1,3})?[a-z]{0,3})?',
  ].join('|')})$`,
  'i',
);
/** `PWD` is a directory, or what a shell makes one of; anything else is a password. */
const DIRECTORY = /^(?:[/~.]|\$(?:[({A-Z_]|$)|`|%[A-Z]|[A-Za-z]:[\\/])/;
/** Where openssl is to look for one. */
const PASS_SOURCE = /^(?:(?:file|env|fd):|stdin$)/;
/** `id=npm,src=.npmrc`, as a build names a secret. */
const REFERENCE = /^(?:id|type|src|source|target)=/;

/** No longer one is a name. */
const MAX_NAME_LENGTH = 200;

/** Whether a flag, a variable or a header of this name is followed by a secret: certainly, or perhaps. */
export function judgeName(name: string): 'secret' | 'doubtful' | 'harmless' {
  if (/^pwd$/i.test(name)) return 'secret'; // of a connection; the variable is told by its value
  if (name.length > MAX_NAME_LENGTH || !isSecretName(name)) return 'harmless';
  const words = name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replaceAll(/[.-]/g, '_');
  if (ABOUT.test(words) || OTHER_MEANING.test(words)) return 'harmless';
  return DOUBTFUL.test(words) && !CERTAIN.test(words) ? 'doubtful' : 'secret';
}

/** Whether `value` beside `name` is to be hidden. */
export function isSecretValue(name: string, value: string): boolean {
  const judgement = judgeName(name);
  // `$` is what a script leaves of `$(command)`.
  if (judgement === 'harmless' || value === '' || value === '$' || SWITCH.test(value)) return false;
  if (isCounted(name, value)) return false;
  if (/secrets?$/i.test(name) && REFERENCE.test(value)) return false;
  if (/^pass$/i.test(name) && PASS_SOURCE.test(value)) return false;
  if (/^pwd$/i.test(name)) return !DIRECTORY.test(value);
  return judgement === 'secret' || !(isHarmlessLooking(value) || METHOD.test(value));
}

/** How many there are or may be; which pass of several it is. */
function isCounted(name: string, value: string): boolean {
  if (/^\d{1,2}$/.test(value) && /(?:^|[_-])pass$/i.test(name)) return true;
  return /^\d{1,9}[km]?$/i.test(value) && isAmount(name);
}

function isAmount(name: string): boolean {
  return /(?:tokens|secrets|passwords)$|(?:^|[_-])(?:max|min|num)[_-](?:[a-z]{1,20}[_-])?token$/i.test(
    name,
  );
}

/** Three words such as `of the trade`; three that could be a passphrase have no such small one among them. */
const PLAIN_WORDS = /^[A-Za-z][a-z]{0,14}(?:,? [A-Za-z][a-z]{0,14}){2}(?![\w+/=~-])/;
const SMALL_WORD =
  /(?<![A-Za-z])(?:an?|the|of|to|in|on|at|by|is|it|its|was|are|be|as|and|or|no|not|for|from|with|this|that|how|what|them|never|too)(?![A-Za-z])/i;

/** Whether a word is one of those that no secret is. */
export function isSmallWord(word: string): boolean {
  return SMALL_WORD.exec(word)?.[0] === word;
}

/** Whether a text goes on as a sentence does: what stands after `secret: ` in one is no value. */
export function isProse(text: string): boolean {
  const [words] = PLAIN_WORDS.exec(text) ?? [];
  return words !== undefined && SMALL_WORD.test(words);
}

/** What a secret does not look like: a file, some words, a small number. */
export function isHarmlessLooking(value: string): boolean {
  return value === '' || FILE.test(value) || WORDS.test(value);
}
