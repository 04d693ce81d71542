/** What the first bytes of a TLS client say. */
export type ClientHello =
  | { readonly kind: 'partial' }
  /** `serverName` as sent; absent when there is none. */
  | { readonly kind: 'hello'; readonly serverName?: string | undefined }
  | { readonly kind: 'bad' };

const HANDSHAKE = 0x16;
const CLIENT_HELLO = 1;
const SERVER_NAME = 0;
const MAX_RECORD = 16_384;
/** Hellos with keys against quantum computers take about two thousand bytes. */
const MAX_HELLO = 32_768;
/** Libraries that split a hello do so in two or three. */
const MAX_RECORDS = 64;

export function isTlsRecord(first: number | undefined): boolean {
  return first === HANDSHAKE;
}

/** Reads a ClientHello, which may be spread over records, out of the first bytes of a connection (RFC 8446, 4.1.2). */
export function readClientHello(bytes: Buffer): ClientHello {
  const parts: Buffer[] = [];
  let got = 0;
  let want = 4;
  for (let at = 0; got < want;) {
    if (bytes.length < at + 5) return checkStart(bytes.subarray(at));
    const length = bytes.readUInt16BE(at + 3);
    const isRecord = isTlsRecord(bytes[at]) && bytes[at + 1] === 3 && length > 0;
    if (!isRecord || length > MAX_RECORD || parts.length >= MAX_RECORDS) return BAD;
    const part = bytes.subarray(at + 5, at + 5 + length);
    parts.push(part);
    got += part.length;
    if (got >= 4 && want === 4) {
      const header = Buffer.concat(parts).readUInt32BE(0);
      if (header >>> 24 !== CLIENT_HELLO) return BAD;
      want = 4 + (header & 0xffffff);
      if (want > MAX_HELLO) return BAD;
    }
    if (part.length < length && got < want) return PARTIAL;
    at += 5 + length;
  }
  const found = readServerName(new Fields(Buffer.concat(parts).subarray(4, want)));
  return found === undefined ? BAD : { kind: 'hello', serverName: found ?? undefined };
}

const PARTIAL: ClientHello = { kind: 'partial' };
const BAD: ClientHello = { kind: 'bad' };

/** Of a record whose header is not whole. */
function checkStart(start: Buffer): ClientHello {
  const isRecord = start.length < 1 || isTlsRecord(start[0]);
  return isRecord && (start.length < 2 || start[1] === 3) ? PARTIAL : BAD;
}

/** Takes fields off the front; once one does not fit, the whole is bad. */
class Fields {
  #bytes: Buffer;
  isBad = false;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isEmpty(): boolean {
    return this.#bytes.length === 0;
  }

  take(count: number): Buffer {
    if (this.#bytes.length < count) this.isBad = true;
    const taken = this.#bytes.subarray(0, count);
    this.#bytes = this.#bytes.subarray(count);
    return taken;
  }

  number(size: 1 | 2): number {
    const taken = this.take(size);
    return this.isBad ? 0 : taken.readUIntBE(0, size);
  }

  /** Behind a length of so many bytes. */
  vector(size: 1 | 2): Buffer {
    return this.take(this.number(size));
  }
}

/** Null when there is none, undefined when it is not a hello. */
function readServerName(hello: Fields): string | null | undefined {
  hello.take(2 + 32); // version, random
  hello.vector(1); // session
  hello.vector(2); // ciphers
  hello.vector(1); // compression
  if (hello.isBad) return undefined;
  if (hello.isEmpty) return null;
  const extensions = new Fields(hello.vector(2));
  if (hello.isBad || !hello.isEmpty) return undefined;
  let name: string | null = null;
  while (!extensions.isEmpty && !extensions.isBad) {
    const type = extensions.number(2);
    const body = extensions.vector(2);
    if (type !== SERVER_NAME) continue;
    const read: string | undefined = name === null ? readNameList(body) : undefined;
    if (read === undefined) return undefined;
    name = read;
  }
  return extensions.isBad ? undefined : name;
}

/** Exactly one name of the one type there is (RFC 6066, 3). */
function readNameList(body: Buffer): string | undefined {
  const whole = new Fields(body);
  const list = new Fields(whole.vector(2));
  const type = list.number(1);
  const name = list.vector(2);
  const isOne = whole.isEmpty && list.isEmpty && !whole.isBad && !list.isBad;
  if (!isOne || type !== 0 || name.length === 0) return undefined;
  return name.toString('latin1');
}
