/** One field as it was sent; the name keeps its case. */
export type Field = readonly [name: string, value: string];

export interface RequestHead {
  readonly method: string;
  readonly target: string;
  readonly minor: 0 | 1;
  readonly fields: readonly Field[];
}

export interface ResponseHead {
  readonly status: number;
  readonly reason: string;
  readonly minor: 0 | 1;
  readonly fields: readonly Field[];
}

/** `status` is the one to answer with. */
export interface HeadProblem {
  readonly status: 400 | 408 | 431 | 501;
  readonly problem: string;
}

/** How the bytes behind a head are counted. */
export type Framing =
  | { readonly kind: 'none' }
  | { readonly kind: 'length'; readonly length: number }
  | { readonly kind: 'chunked' }
  /** Of answers only. */
  | { readonly kind: 'close' };

export const MAX_HEAD = 32_768;
const MAX_FIELDS = 128;
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
// oxlint-disable-next-line no-control-regex
const ODD_BYTE = /[^\t\u0020-\u007e\u0080-\u00ff]/;

/**
 * Where the head ends, behind its empty line; 0 while it has not. A line ends with CR LF and with nothing else: what one
 * reader takes for the end of a line and another does not is how requests are smuggled. `from` is what was looked at before.
 */
export function findHeadEnd(bytes: Buffer, from: number): number | HeadProblem {
  let start = Math.max(0, from - 3);
  for (;;) {
    const at = bytes.indexOf(0x0a, start);
    if (at < 0 || at >= MAX_HEAD)
      return bytes.length > MAX_HEAD ? { status: 431, problem: 'the head is too long' } : 0;
    if (at === 0 || bytes[at - 1] !== 0x0d) return bad('a line does not end with CR LF');
    if (at >= 3 && bytes[at - 2] === 0x0a) return at + 1;
    if (at === 1) return bad('the head starts with an empty line');
    start = at + 1;
  }
}

export function parseRequestHead(bytes: Buffer): RequestHead | HeadProblem {
  const [first = '', ...lines] = toLines(bytes);
  const [method = '', target = '', version = '', more] = first.split(' ', 4);
  if (more !== undefined || !TOKEN.test(method)) return bad('the request line is not one');
  if (!/^[!-~]+$/.test(target)) return bad('the target has bytes that do not belong there');
  if (version !== 'HTTP/1.1' && version !== 'HTTP/1.0') return bad('only HTTP/1 is spoken here');
  const fields = parseFields(lines);
  if ('problem' in fields) return fields;
  return { method, target, minor: version === 'HTTP/1.1' ? 1 : 0, fields };
}

export function parseResponseHead(bytes: Buffer): ResponseHead | HeadProblem {
  const [first = '', ...lines] = toLines(bytes);
  const [, minor, status, reason = ''] =
    /^HTTP\/1\.([01]) ([1-9]\d\d)(?: (.*))?$/.exec(first) ?? [];
  if (status === undefined || ODD_BYTE.test(reason)) return bad('the status line is not one');
  const fields = parseFields(lines);
  if ('problem' in fields) return fields;
  return { status: Number(status), reason, minor: minor === '1' ? 1 : 0, fields };
}

/** The values of a field, which may have been sent several times. */
export function listValues(fields: readonly Field[], name: string): string[] {
  return fields.filter(([one]) => one.toLowerCase() === name).map(([, value]) => value);
}

/** Whether a list such as that of Connection holds the word. */
export function hasWord(fields: readonly Field[], name: string, word: string): boolean {
  return listWords(fields, name).includes(word);
}

function listWords(fields: readonly Field[], name: string): string[] {
  return listValues(fields, name).flatMap((value) =>
    value.split(',').map((one) => one.trim().toLowerCase()),
  );
}

export function findRequestFraming({ minor, fields }: RequestHead): Framing | HeadProblem {
  const codings = listValues(fields, 'transfer-encoding');
  const lengths = listValues(fields, 'content-length');
  if (codings.length === 0) return readLength(lengths) ?? { kind: 'none' };
  if (lengths.length > 0) return bad('it has both Content-Length and Transfer-Encoding');
  if (minor === 0) return bad('HTTP/1.0 has no Transfer-Encoding');
  if (codings.length > 1 || codings[0]?.toLowerCase() !== 'chunked')
    return { status: 501, problem: 'Transfer-Encoding may only be chunked' };
  return { kind: 'chunked' };
}

export function findResponseFraming(head: ResponseHead, method: string): Framing | HeadProblem {
  const { status, minor, fields } = head;
  if (method === 'HEAD' || status < 200 || status === 204 || status === 304)
    return { kind: 'none' };
  const codings = listValues(fields, 'transfer-encoding');
  const lengths = listValues(fields, 'content-length');
  if (codings.length === 0) return readLength(lengths) ?? { kind: 'close' };
  const isChunked = codings.length === 1 && codings[0]?.toLowerCase() === 'chunked';
  if (!isChunked || lengths.length > 0 || minor === 0)
    return bad('the answer says in more than one way how long it is');
  return { kind: 'chunked' };
}

/** Fields that belong to one connection, and are never handed on (RFC 9110, 7.6.1). */
const OWN_FIELDS = new Set([
  'connection',
  'content-length',
  'host',
  'http2-settings',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** What is handed on. Framing and Host are written anew, from what was understood. */
export function keepFields(fields: readonly Field[]): Field[] {
  const named = new Set(listWords(fields, 'connection'));
  return fields.filter(([name]) => {
    const lower = name.toLowerCase();
    return !OWN_FIELDS.has(lower) && !named.has(lower) && !lower.startsWith('proxy-');
  });
}

export function frameFields(framing: Framing): Field[] {
  if (framing.kind === 'length') return [['Content-Length', String(framing.length)]];
  return framing.kind === 'chunked' ? [['Transfer-Encoding', 'chunked']] : [];
}

/** Also of the last chunk, with the trailers behind it. */
export function writeHead(first: string, fields: readonly Field[]): Buffer {
  const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${first}\r\n${lines.join('')}\r\n`, 'latin1');
}

function bad(problem: string): HeadProblem {
  return { status: 400, problem };
}

function toLines(bytes: Buffer): string[] {
  return bytes.toString('latin1', 0, bytes.length - 4).split('\r\n');
}

export function parseFields(lines: readonly string[]): Field[] | HeadProblem {
  if (lines.length > MAX_FIELDS) return { status: 431, problem: 'the head has too many fields' };
  const fields: Field[] = [];
  for (const line of lines) {
    const at = line.indexOf(':');
    const name = line.slice(0, Math.max(0, at));
    // White space before the colon and lines that go on with the field before are refused here, too.
    if (!TOKEN.test(name)) return bad('a field has no proper name');
    const value = trimBlanks(line.slice(at + 1));
    if (ODD_BYTE.test(value)) return bad('a field has bytes that do not belong there');
    fields.push([name, value]);
  }
  return fields;
}

/** In one pass: a regular expression for it would take the square of the time on a field of blanks. */
function trimBlanks(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && (text[from] === ' ' || text[from] === '\t')) from++;
  while (to > from && (text[to - 1] === ' ' || text[to - 1] === '\t')) to--;
  return text.slice(from, to);
}

function readLength(lengths: readonly string[]): Framing | HeadProblem | undefined {
  const [text] = lengths;
  if (text === undefined) return undefined;
  if (lengths.length > 1) return bad('it has several Content-Length fields');
  if (!/^\d{1,15}$/.test(text)) return bad('Content-Length is not a number');
  return { kind: 'length', length: Number(text) };
}
