/** Hand-made messages, byte by byte, so that what is tested is not what makes the test. */
export interface QueryParts {
  readonly id?: number;
  readonly flags?: number;
  readonly counts?: readonly [number, number, number, number];
  /** Between header and end, in place of a question. */
  readonly body?: Buffer;
  readonly type?: number;
  readonly class?: number;
  readonly tail?: Buffer;
}

export const OPT = Buffer.from('0000291000000000000000', 'hex');

export function packName(...labels: readonly (string | Buffer)[]): Buffer {
  const parts = labels.map((label) => {
    const bytes = Buffer.from(label as string, 'latin1');
    return Buffer.concat([Buffer.from([bytes.length]), bytes]);
  });
  return Buffer.concat([...parts, Buffer.from([0])]);
}

export function packQuery(name: string, parts: QueryParts = {}): Buffer {
  const { id = 0x1234, flags = 0x0100, tail = Buffer.alloc(0), type = 1 } = parts;
  const counts = parts.counts ?? [1, 0, 0, tail.length > 0 ? 1 : 0];
  const head = Buffer.alloc(12);
  [id, flags, ...counts].forEach((value, at) => head.writeUInt16BE(value, at * 2));
  const fixed = Buffer.alloc(4);
  fixed.writeUInt16BE(type, 0);
  fixed.writeUInt16BE(parts.class ?? 1, 2);
  const body = parts.body ?? Buffer.concat([packName(...name.split('.')), fixed]);
  return Buffer.concat([head, body, tail]);
}

export interface ReadAnswer {
  readonly id: number;
  readonly rcode: number;
  readonly counts: readonly number[];
  /** Of answers that point at the question: type and data. */
  readonly records: readonly { type: number; ttl: number; data: Buffer }[];
}

/** Reads answers of one question and no other shape. */
export function readAnswer(bytes: Buffer): ReadAnswer {
  const counts = [4, 6, 8, 10].map((at) => bytes.readUInt16BE(at));
  let at = 12;
  if (counts[0] === 1) {
    while (bytes[at] !== 0) at += 1 + (bytes[at] ?? 0);
    at += 5;
  }
  const records = Array.from({ length: counts[1] ?? 0 }, () => {
    const length = bytes.readUInt16BE(at + 10);
    const data = bytes.subarray(at + 12, at + 12 + length);
    const record = { type: bytes.readUInt16BE(at + 2), ttl: bytes.readUInt32BE(at + 6), data };
    at += 12 + length;
    return record;
  });
  return { id: bytes.readUInt16BE(0), rcode: bytes.readUInt16BE(2) & 15, counts, records };
}
