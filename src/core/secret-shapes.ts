/** Digits among letters, or capitals among small ones: what words and dates do not have. */
const ODD = '(?=[\\w-]{0,64}(?:[A-Za-z]\\d|\\d[A-Za-z]|[a-z][A-Z]))';
/** All three kinds of characters. */
const MIXED = '(?=[\\w-]{0,64}\\d)(?=[\\w-]{0,64}[A-Z])(?=[\\w-]{0,64}[a-z])';

/**
 * Tokens that tell by their shape what they are: how they begin, one word for each beginning, and what follows.
 * `\b` is no help before them: a path joins words with `_`.
 */
const SHAPES: readonly (readonly [beginnings: string, rest: string])[] = [
  ['gho_ ghp_ ghs_ ghr_ ghu_', '[A-Za-z0-9]{16,}'], // GitHub
  ['github_pat_', `${ODD}\\w{16,}`],
  ['glpat- glrt- gldt- glcbt- glptt- gloas-', `${ODD}[\\w-]{16,}`], // GitLab
  // OpenAI, Anthropic, and those who copy them
  [
    'sk-ant- sk-proj- sk-svcacct- sk-admin- sk-or- sk-lf-',
    `(?:[a-z]{2,8}\\d\\d-[\\w-]{16,}|(?:v1-)?[a-f0-9-]{32,}|${MIXED}[\\w-]{16,})`,
  ],
  ['sk-', '(?=[A-Za-z]{0,64}\\d)[A-Za-z0-9]{20,}'],
  // Stripe
  ['sk_live_ sk_test_ rk_live_ rk_test_', '(?=[A-Za-z]{0,64}(?:\\d|[a-z][A-Z]))[A-Za-z0-9]{10,}'],
  ['whsec_', '[A-Za-z0-9+/]{20,}'],
  ['xox', `[abcdeprs]-(?:\\d{9,}-[\\w-]{10,}|${MIXED}[\\w%-]{10,})`], // Slack
  ['xapp-', '\\d-[\\w-]{10,}'],
  ['AKIA ASIA', '[0-9A-Z]{16}'], // AWS key ids
  ['AIza', `(?=[\\w-]{0,40}\\d[A-Za-z_-]{1,40}\\d)${MIXED}[\\w-]{30,}`], // Google
  ['ya29.', `${ODD}[\\w-]{20,}`],
  ['GOCSPX-', `${ODD}[\\w-]{20,}`],
  ['npm_', '[A-Za-z0-9]{30,}'],
  ['pypi-AgE', '[\\w-]{30,}'],
  ['rubygems_', '[a-f0-9]{32,}'],
  ['dckr_pat_ dckr_oat_', `${ODD}[\\w-]{20,}`], // Docker
  ['hf_', '[A-Za-z0-9]{30,}'], // Hugging Face
  ['gsk_', '[A-Za-z0-9]{32,}'], // Groq
  ['r8_', '[A-Za-z0-9]{32,}'], // Replicate
  ['xai-', '[A-Za-z0-9]{32,}'],
  ['nvapi-', `${ODD}[\\w-]{32,}`], // NVIDIA
  ['doo_v1_ dop_v1_', '[a-f0-9]{32,}'], // DigitalOcean
  ['dapi', '[a-f0-9]{32}'], // Databricks
  ['shpat_ shpca_ shppa_ shpss_', '[a-f0-9]{32}'], // Shopify
  ['lin_api_', '[A-Za-z0-9]{32,}'], // Linear
  ['ntn_', '[A-Za-z0-9]{32,}'], // Notion
  ['sbp_', '[a-f0-9]{32,}'], // Supabase
  ['PMAK-', '[a-f0-9-]{32,}'], // Postman
  ['ATATT3', '[\\w=-]{32,}'], // Atlassian
  ['tskey-', `[a-z]+-${ODD}[\\w-]{16,}`], // Tailscale
  ['SG.', '[\\w-]{16,}\\.[\\w-]{16,}'], // SendGrid
  ['hvs. hvb.', `${ODD}[\\w-]{20,}`], // Vault
  ['AGE-SECRET-KEY-1', '[0-9A-Z]{20,}'],
  ['eyJ', '[\\w-]{8,4096}\\.[\\w-]{8,}\\.[\\w-]*'], // JSON Web Token
];

const PRIVATE_KEY_BEGINNING = '-----BEGIN ';
const BASE64 = '[A-Za-z0-9+/=]';
/** Also as a text spells it. */
const SPACE = '(?:\\s|\\\\+[nrt])';
/** A header or a line of the key, and no command: a script between two of these marks is not hidden. */
const KEY_LINE = `(?:[A-Za-z][A-Za-z-]{1,30}: [^\\n\\\\;&|\`$"']{0,200}(?=[\\n\\\\]|$)|${BASE64}{16,}(?!${BASE64}))`;
/** To its end; or to that of the text, which may have been cut. */
const PRIVATE_KEY = [
  `${PRIVATE_KEY_BEGINNING}[A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----`,
  `(?:${BASE64}{16,}(?!${BASE64}))?(?:${SPACE}+${KEY_LINE})*`,
  `(?:${SPACE}*(?:${BASE64}+${SPACE}+)?(?:${BASE64}+${SPACE}*)?-----END [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----`,
  `|${SPACE}+${BASE64}+$)?`,
].join('');

/** All of them, wherever they stand, as the text of a pattern. */
export function writeTokenPattern(): string {
  const shapes = SHAPES.map(
    ([beginnings, rest]) => `(?:${beginnings.replaceAll('.', '\\.').replaceAll(' ', '|')})${rest}`,
  );
  // What follows must not run on from a word: `task-list` is no `sk-` token.
  return `${PRIVATE_KEY}|(?<![A-Za-z0-9])(?:${shapes.join('|')})`;
}

/** What follows the colon after a host. */
const PORT = '\\d{1,5}(?:[/?#\\s"\'),;\\]}]|$)';

/**
 * Credentials in an address, to the last `@` before its path. With a password in any scheme; without one in http only,
 * where the name itself is the token (`https://TOKEN@host`), while `ssh://git@host` names a role. The name may be an
 * address of mail. A port before a path is not a password, and what is in brackets is a host.
 */
export const USERINFO = new RegExp(
  [
    `(://)(?:[^\\s/@:["']*:(?!${PORT})[^\\s@]{0,500}@`,
    `(?<=https?://)[^\\s/@:?#"']{1,500}@`,
    `[^\\s/@:?#["']{1,200}@[^\\s/@:?#"']{1,200}:(?!${PORT})[^\\s/@?#"']{1,200}@)(?:[^\\s/@?#"']{0,200}@)*`,
  ].join('|'),
  'gi',
);

const ENCODED_USER = '(?:[^\\s%&"\'@/]|%(?!2F|3A|40)[0-9A-F]{2})';
const ENCODED_PASSWORD = '(?:[^\\s%&"\'@/]|%(?!2F|40)[0-9A-F]{2})';

/** The same in an address that is part of another. */
export const ENCODED_USERINFO = new RegExp(
  [
    `(%3A%2F%2F)(?:${ENCODED_USER}{0,500}%3A(?!\\d{1,5}(?:%2F|[^\\w%]|$))${ENCODED_PASSWORD}{0,500}%40`,
    `(?<=https?%3A%2F%2F)${ENCODED_USER}{1,500}%40)(?:${ENCODED_PASSWORD}{0,200}%40)*`,
  ].join('|'),
  'gi',
);

/** The same without a scheme: `user:password@host`. A version (`npm:left-pad@1.3.0`) or a digest is no host. */
export const PLAIN_USERINFO =
  /(?<![\w/:@.+-])([\w.+-]{1,64}):([^\s@/:"']{3,200})@(?=(?:localhost|\d{1,3}(?:\.\d{1,3}){3}|(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,24}|(?:tcp|unix)\([^)]{1,200}\))(?![\w.@-]))/gi;

/** Words before a colon that are followed by a person or a package, not by a password. */
export const NO_USER =
  /^(?:to|cc|bcc|from|by|author|committer|reviewer|assignee|owner|user|email|mailto|acct|sip|xmpp|npm|jsr|git|github|file|link|patch|portal|workspace|docker|pkg|catalog|https?)$/i;

/** Addresses in which a part of the path is the key. */
export const KEYED_ADDRESS =
  /((?:hooks\.slack\.com\/(?:services|workflows)|discord(?:app)?\.com\/api\/webhooks|api\.telegram\.org)\/)[^\s"'?;|&`<>()]+/gi;

/**
 * Whether a value holds a credential that its form gives away. Cheap enough for every environment variable: the pattern
 * takes longer to compile than a start has, and is made only for a value that holds the beginning of a token.
 */
export function hasCredential(value: string): boolean {
  if (value.length < 10) return false;
  if (value.includes('://') && value.search(USERINFO) !== -1) return true;
  return holdsBeginning(value) && value.search(new RegExp(writeTokenPattern())) !== -1;
}

function holdsBeginning(value: string): boolean {
  return (
    value.includes(PRIVATE_KEY_BEGINNING) ||
    SHAPES.some(([beginnings]) => beginnings.split(' ').some((one) => value.includes(one)))
  );
}
