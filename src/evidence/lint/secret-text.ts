import { REDACTED } from '../../core/redaction-mark.ts';
import { KEYED_ADDRESS, USERINFO } from '../../core/secret-shapes.ts';
import { TOKEN } from '../../core/token-pattern.ts';

/**
 * The words that the older format looks for, where something that may be a secret follows. Alone they are in too many
 * names: `sk-` is in `task-list`, `token=` in a flag that is set to nothing.
 */
const MARKED =
  /(?<![A-Za-z0-9])(?:sk-(?=[\w-]{0,80}\d)[\w-]{6,200}|(?:sk_live_|sk_test_|ghp_|gho_|github_pat_)\w{4,200}|AKIA[0-9A-Z]{8,64}|bearer\s{1,4}(?!\[redacted[\]:])[\w.~+/=-]{6,500})/gi;

const NAMED =
  /((?:api_key|apikey|token|password|secret)=)(?!\[redacted[\]:]|\*\*\*|[$%<]|(?:true|false|none|null|\d{1,4})\b)[^\s&;"'/]{4,500}/gi;

/** What has none of these holds no secret that its form gives away. */
const HINT = /[:=_.-]|bearer|A[KS]IA|AIza|dapi|eyJ/i;

const MIN_LENGTH = 10;

/** Some shapes take time that grows with the square of a text made for it; a secret is told by less than this. */
const WINDOW = 1024;
const OVERLAP = 256;

export function hasSecret(text: string): boolean {
  if (text.length < MIN_LENGTH || !HINT.test(text)) return false;
  for (let at = 0; at === 0 || at + OVERLAP < text.length; at += WINDOW - OVERLAP)
    if (hasSecretInside(text.slice(at, at + WINDOW))) return true;
  return false;
}

function hasSecretInside(text: string): boolean {
  if (text.search(TOKEN) !== -1 || text.search(MARKED) !== -1) return true;
  if (text.includes('=') && text.search(NAMED) !== -1) return true;
  return text.includes('/') && (hasLogin(text) || text.search(KEYED_ADDRESS) !== -1);
}

/** What assay has taken out itself is no login. */
function hasLogin(text: string): boolean {
  if (!text.includes('://') || !text.includes('@')) return false;
  return text.replaceAll(`${REDACTED}@`, '').search(USERINFO) !== -1;
}

/** A short text without its secrets, for people. */
export function hideSecrets(text: string): string {
  if (!hasSecret(text)) return text;
  return text
    .replace(USERINFO, `$1${REDACTED}@`)
    .replace(TOKEN, REDACTED)
    .replace(KEYED_ADDRESS, `$1${REDACTED}`)
    .replace(MARKED, REDACTED)
    .replace(NAMED, `$1${REDACTED}`);
}
