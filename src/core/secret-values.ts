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
      'map|dict|group|range|lookup|unique|index',
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

const SWITCH = /^(?:true|false|yes|no|on|off|none|null)$/i;
const FILE =
  /^(?:~|\.{0,2}\/)|\.(?:pem|key|crt|cer|pub|json|ya?ml|toml|txt|p12|pfx|jks|asc|gpg|der|conf|cfg|ini|env|[jt]sx?|py|rb|go)$/i;
/** `basic`, `user-id`, `2,2n`, `alias/app`. */
const WORDS = /^(?:[A-Za-z]{1,24}(?:[-_./ ][A-Za-z]{1,24}){0,6}|\d{1,6}(?:[.,]\d{1,6})?[a-z]?)$/;
/** `id=npm,src=.npmrc`, as a build names a secret. */
const REFERENCE = /^(?:id|type|src|source|target)=/;

/** Whether a flag, a variable or a header of this name is followed by a secret: certainly, or perhaps. */
export function judgeName(name: string): 'secret' | 'doubtful' | 'harmless' {
  if (!isSecretName(name)) return 'harmless';
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
  if (judgement === 'harmless' || SWITCH.test(value)) return false;
  if (/tokens$/i.test(name) && /^\d{1,9}[km]?$/i.test(value)) return false;
  if (/secrets?$/i.test(name) && REFERENCE.test(value)) return false;
  return judgement === 'secret' || !isHarmlessLooking(value);
}

/** What a secret does not look like: a file, some words, a small number. */
export function isHarmlessLooking(value: string): boolean {
  return value === '' || FILE.test(value) || WORDS.test(value);
}
