import { decodeBase64 } from './base64.ts';
import { MAKE_A_KEY, refuseKey } from './key-error.ts';
import { SshReader } from './ssh-wire.ts';

interface Found {
  readonly point: Buffer;
  readonly name: string;
}

interface Context {
  readonly file: string;
  readonly now: Date;
}

/** What an entry with `namespaces="…"` has to name, for its key to be trusted with evidence. */
const NAMESPACE = 'assay-evidence';

const ALGORITHM = /^(?:ssh-|ecdsa-|sk-)[\w@.-]+$/;
const UNUSABLE: unique symbol = Symbol('unusable');

/**
 * The Ed25519 keys in lines as OpenSSH writes them: a .pub file, or an allowed_signers file (ssh-keygen(1)). Entries of
 * another algorithm, namespace or time are passed over; a file with nothing left says why.
 */
export function findAllowedSigners(text: string, context: Context): Found[] {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '' && !/^\s*#/.test(line));
  const passedOver: string[] = [];
  const found: Found[] = [];
  for (const line of lines) {
    const entry = readEntry(splitFields(line), context);
    if (typeof entry === 'object') found.push(entry);
    else passedOver.push(entry);
  }
  if (found.length === 0 && passedOver[0] !== undefined)
    throw refuseKey(context.file, passedOver[0], MAKE_A_KEY);
  return found;
}

/** Blanks inside quotes belong to the field. */
function splitFields(line: string): string[] {
  return line.match(/(?:[^\s"]|"[^"]*")+/g) ?? [];
}

/** A key, or why it is passed over. */
function readEntry(fields: readonly string[], context: Context): Found | string {
  const at = fields.findIndex((field) => ALGORITHM.test(field));
  const [algorithm = '', encoded = '', ...comment] = fields.slice(Math.max(at, 0));
  if (at === -1 || at > 2) return 'it is neither PEM nor lines of SSH public keys';
  const reason = findBar(fields.slice(1, at).join(','), context.now);
  if (reason !== undefined) return reason;
  if (algorithm !== 'ssh-ed25519') return `its algorithm is ${algorithm}, not ssh-ed25519`;
  const point = readPoint(encoded);
  if (point === UNUSABLE) return `the key after ${algorithm} is damaged`;
  return { point, name: at === 0 ? comment.join(' ') : (fields[0] ?? '') };
}

function readPoint(encoded: string): Buffer | typeof UNUSABLE {
  const bytes = decodeBase64(encoded);
  if (bytes === undefined) return UNUSABLE;
  try {
    const reader = new SshReader(bytes);
    const isNamed = reader.readText() === 'ssh-ed25519';
    const point = reader.readBytes();
    return isNamed && reader.isAtEnd ? point : UNUSABLE;
  } catch {
    return UNUSABLE;
  }
}

/** Why the options of an entry keep its key from being trusted here, if they do. */
function findBar(options: string, now: Date): string | undefined {
  for (const [text] of options.matchAll(/(?:[^,"]|"[^"]*")+/g)) {
    const [name = '', value = ''] = text.split(/=(.*)/s);
    const plain = value.replaceAll('"', '');
    const option = name.toLowerCase();
    if (option === 'namespaces') {
      if (!includesNamespace(plain)) return `its namespaces do not include ${NAMESPACE}`;
    } else if (option === 'valid-after') {
      if (!(readTime(plain) <= now.getTime())) return 'it is not valid yet';
    } else if (option === 'valid-before') {
      if (!(now.getTime() < readTime(plain))) return 'it is not valid any more';
    } else return `the option "${name}" is not supported`;
  }
  return undefined;
}

/** A list of patterns, of which those with an exclamation mark take away. */
function includesNamespace(list: string): boolean {
  const patterns = list.split(',').map((pattern) => pattern.trim());
  const isMatch = (pattern: string): boolean => {
    const source = pattern.replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`);
    return new RegExp(`^${source.replaceAll('*', '.*').replaceAll('?', '.')}$`).test(NAMESPACE);
  };
  return (
    patterns.some(isMatch) &&
    !patterns.some((pattern) => pattern.startsWith('!') && isMatch(pattern.slice(1)))
  );
}

/** YYYYMMDD, with or without HHMM or HHMMSS; in the time zone of the machine unless a Z follows. NaN for anything else. */
function readTime(text: string): number {
  const parts = /^(\d{4})(\d\d)(\d\d)(?:(\d\d)(\d\d)(\d\d)?)?(Z?)$/.exec(text);
  if (!parts) return Number.NaN;
  const [year = 0, month = 0, ...rest] = parts.slice(1, 7).map((part) => Number(part ?? 0));
  const [day = 0, hour = 0, minute = 0, second = 0] = rest;
  return parts[7] === 'Z'
    ? Date.UTC(year, month - 1, day, hour, minute, second)
    : new Date(year, month - 1, day, hour, minute, second).getTime();
}
