/** Tokens that tell by their shape what they are. `\b` is no help before them: a path joins words with `_`. */
const SHAPES: readonly string[] = [
  'gh[opsru]_[A-Za-z0-9]{16,}', // GitHub
  'github_pat_\\w{16,}',
  'gl(?:pat|rt|dt|cbt|ptt|oas)-[\\w-]{16,}', // GitLab
  // OpenAI, Anthropic, and those who copy them
  'sk-(?:ant|proj|svcacct|admin|or|lf)-[\\w-]{16,}',
  'sk-(?=[A-Za-z]{0,64}\\d)[A-Za-z0-9]{20,}',
  '[sr]k_(?:live|test)_[A-Za-z0-9]{10,}', // Stripe
  'whsec_[A-Za-z0-9+/]{20,}',
  'xox[a-z]-(?=[\\w-]{0,64}\\d)[\\w-]{10,}', // Slack
  'xapp-\\d-[\\w-]{10,}',
  'A(?:KI|SI)A[0-9A-Z]{16}', // AWS key ids
  'AIza[\\w-]{30,}', // Google
  'ya29\\.[\\w-]{20,}',
  'GOCSPX-[\\w-]{20,}',
  'npm_[A-Za-z0-9]{30,}',
  'pypi-AgE[\\w-]{30,}',
  'rubygems_[a-f0-9]{32,}',
  'dckr_[po]at_[\\w-]{20,}', // Docker
  'hf_[A-Za-z0-9]{30,}', // Hugging Face
  'gsk_[A-Za-z0-9]{32,}', // Groq
  'r8_[A-Za-z0-9]{32,}', // Replicate
  'xai-[A-Za-z0-9]{32,}',
  'nvapi-[\\w-]{32,}', // NVIDIA
  'do[op]_v1_[a-f0-9]{32,}', // DigitalOcean
  'dapi[a-f0-9]{32}', // Databricks
  'shp(?:at|ca|pa|ss)_[a-f0-9]{32}', // Shopify
  'lin_api_[A-Za-z0-9]{32,}', // Linear
  'ntn_[A-Za-z0-9]{32,}', // Notion
  'sbp_[a-f0-9]{32,}', // Supabase
  'PMAK-[a-f0-9-]{32,}', // Postman
  'ATATT3[\\w=-]{32,}', // Atlassian
  'tskey-[a-z]+-[\\w-]{16,}', // Tailscale
  'SG\\.[\\w-]{16,}\\.[\\w-]{16,}', // SendGrid
  'hv[sb]\\.[\\w-]{20,}', // Vault
  'AGE-SECRET-KEY-1[0-9A-Z]{20,}',
  'eyJ[\\w-]{8,}\\.[\\w-]{8,}\\.[\\w-]*', // JSON Web Token
];

/** What follows must not run on from a word: `task-list` is no `sk-` token. */
const KEY_TEXT = `(?<![A-Za-z0-9])(?:${SHAPES.join('|')})`;

const PRIVATE_KEY = '-----BEGIN [A-Z ]*PRIVATE KEY-----(?:[^-]*-----END [A-Z ]*PRIVATE KEY-----)?';

/** Wherever they stand. */
export const TOKEN = new RegExp(`${PRIVATE_KEY}|${KEY_TEXT}`, 'g');

/**
 * Credentials in an address. With a password in any scheme; without one in http only, where the name itself is the
 * token (`https://TOKEN@host`), while `ssh://git@host` names a role. A port before a path is not a password, and what
 * is in brackets is a host.
 */
export const USERINFO =
  /(:\/\/)[^\s/@:[]*:(?!\d{1,5}(?:[/?#\s]|$))[^\s@]{0,500}@|(https?:\/\/)[^\s/@:?#]{1,500}@/gi;

/** The same without a scheme: `user:password@host`. A version (`npm:left-pad@1.3.0`) or a digest is no host. */
export const PLAIN_USERINFO =
  /(?<![\w/:@.+-])([\w.+-]{1,64}):([^\s@/:"']{3,200})@(?=(?:localhost|\d{1,3}(?:\.\d{1,3}){3}|(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,24}|(?:tcp|unix)\([^)]{1,200}\))(?![\w.@-]))/gi;

/** Words before a colon that are followed by a person or a package, not by a password. */
export const NO_USER =
  /^(?:to|cc|bcc|from|by|author|committer|reviewer|assignee|owner|user|email|mailto|acct|sip|xmpp|npm|jsr|git|github|file|link|patch|portal|workspace|docker|pkg|catalog|https?)$/i;

/** Addresses in which a part of the path is the key. */
export const KEYED_ADDRESS =
  /((?:hooks\.slack\.com\/(?:services|workflows)|discord(?:app)?\.com\/api\/webhooks|api\.telegram\.org)\/)[^\s"'?]+/gi;

/** Whether a value holds a credential that its form gives away. Cheap enough for every environment variable. */
export function hasCredential(value: string): boolean {
  if (value.length < 10) return false;
  if (value.includes('://') && value.search(USERINFO) !== -1) return true;
  return value.search(TOKEN) !== -1;
}
