import type { BundleEvent } from '../bundle/bundle.ts';
import { toRecord, toText } from './plain-data.ts';

const SCHEMES: ReadonlySet<string> = new Set(['oauth2', 'jwt_bearer']);
const MAX_ISSUER_BYTES = 2048;

/** Whether a tool decision says who acted, how that was known, and who vouches for it, without being the credential. */
export function hasAuthorization({ type, data }: BundleEvent): boolean {
  if (type !== 'assay.tool.decision') return false;
  const { principal, auth_scheme: scheme, auth_issuer: issuer } = toRecord(data);
  if (!isName(toText(principal)) || !isName(toText(issuer))) return false;
  if (Buffer.byteLength(toText(issuer).trim()) > MAX_ISSUER_BYTES) return false;
  return SCHEMES.has(toText(scheme).trim().toLowerCase());
}

function isName(text: string): boolean {
  const name = text.trim();
  return name !== '' && !/^bearer /i.test(name) && !isSignedToken(name);
}

function isSignedToken(text: string): boolean {
  const parts = text.split('.');
  return (
    parts.length === 3 && text.startsWith('eyJ') && parts.every((part) => /^[\w-]{4,}$/.test(part))
  );
}
