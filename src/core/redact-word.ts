import { hideNamed } from './named-values.ts';
import { REDACTED } from './redaction-mark.ts';
import {
  ENCODED_USERINFO,
  KEYED_ADDRESS,
  NO_USER,
  PLAIN_USERINFO,
  USERINFO,
} from './secret-shapes.ts';
import { isSecretValue } from './secret-values.ts';
import { TOKEN } from './token-pattern.ts';

/** Whoever has the signature of an address may use it. */
const SIGNATURE =
  /([?&](?:sig|signature|x-(?:amz|goog)-(?:signature|credential))=)[^\s&"'#;|`<>()]+/gi;

/** `?token=abc` of an address that is part of another. */
const ENCODED_QUERY =
  /((?:%3F|%26|%23)([a-z_](?:[\w.-]|%(?:5F|2D|2E)){0,100})%3D)((?:[^\s&%"']|%(?!26|23))+)/gi;

/** Takes the credentials out of a text that is one word. */
export function redactWord(word: string): string {
  return hideNamed(hideTokens(hideAddresses(word)), 'word');
}

/** Tokens that tell by their shape what they are. */
export function hideTokens(text: string): string {
  return text.length < 10 ? text : text.replace(TOKEN, REDACTED);
}

/** What is secret in addresses. */
export function hideAddresses(word: string): string {
  let result = word;
  if (result.includes('@')) {
    result = result.replace(USERINFO, `$1${REDACTED}@`);
    result = result.replace(PLAIN_USERINFO, (all: string, user: string) =>
      NO_USER.test(user) ? all : `${REDACTED}@`,
    );
  }
  if (result.includes('%')) {
    result = result.replace(ENCODED_USERINFO, `$1${REDACTED}%40`);
    result = result.replace(ENCODED_QUERY, (all, start: string, name: string, value: string) =>
      isSecretValue(decodeURIComponent(name), value) ? start + REDACTED : all,
    );
  }
  if (result.includes('/')) result = result.replace(KEYED_ADDRESS, `$1${REDACTED}`);
  return hideSignatures(result);
}

export function hideSignatures(text: string): string {
  return text.includes('=') ? text.replace(SIGNATURE, `$1${REDACTED}`) : text;
}
