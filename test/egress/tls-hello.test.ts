import { connect as connectTls } from 'node:tls';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { readClientHello } from '../../src/egress/tls-hello.ts';
import { DoorKit } from './door-kit.ts';

let kit: DoorKit | undefined;
afterEach(async () => kit?.close());

/** What node's own TLS says first. */
async function makeHello(servername: string | undefined): Promise<Buffer> {
  kit = new DoorKit();
  let take: (hello: Buffer) => void = () => undefined;
  const hello = new Promise<Buffer>((resolve) => (take = resolve));
  const port = await kit.serve((socket) => socket.once('data', take));
  const socket = connectTls({ port, host: '127.0.0.1', servername: servername ?? '' });
  socket.on('error', () => undefined);
  await hello;
  socket.destroy();
  return hello;
}

/** The same handshake in records of so many bytes. */
function split(hello: Buffer, size: number): Buffer {
  const body = hello.subarray(5);
  const parts: Buffer[] = [];
  for (let at = 0; at < body.length; at += size) {
    const part = body.subarray(at, at + size);
    parts.push(Buffer.from([0x16, 3, 1, part.length >> 8, part.length & 255]), part);
  }
  return Buffer.concat(parts);
}

/** A hello with nothing but these extensions. */
function build(extensions: readonly (readonly [type: number, body: Buffer])[]): Buffer {
  const u16 = (n: number): Buffer => Buffer.from([n >> 8, n & 255]);
  const list = Buffer.concat(
    extensions.flatMap(([type, body]) => [u16(type), u16(body.length), body]),
  );
  const body = Buffer.concat([
    Buffer.from([3, 3]),
    Buffer.alloc(32),
    Buffer.from([0, 0, 2, 0x13, 1, 1, 0]),
    u16(list.length),
    list,
  ]);
  const header = Buffer.from([1, 0, body.length >> 8, body.length & 255]);
  const record = Buffer.concat([header, body]);
  return Buffer.concat([Buffer.from([0x16, 3, 1]), u16(record.length), record]);
}

function name(...names: readonly string[]): Buffer {
  const entries = names.map((one) =>
    Buffer.concat([Buffer.from([0, 0, one.length]), Buffer.from(one)]),
  );
  const all = Buffer.concat(entries);
  return Buffer.concat([Buffer.from([all.length >> 8, all.length & 255]), all]);
}

describe('readClientHello()', () => {
  it('finds the name, in one record or in many', async () => {
    const hello = await makeHello('ok.test');
    const expected = { kind: 'hello', serverName: 'ok.test' };
    expect(readClientHello(hello)).toEqual(expected);
    for (const records of [60, 20, 6]) {
      const size = Math.ceil(hello.length / records);
      expect(readClientHello(split(hello, size))).toEqual(expected);
    }
    const more = Buffer.concat([hello, Buffer.from('more')]);
    expect(readClientHello(more)).toEqual(expected);
  });

  it('waits while it is not whole', async () => {
    const hello = await makeHello('ok.test');
    for (const whole of [hello, split(hello, 50)])
      for (let length = 0; length < whole.length; length++)
        expect(readClientHello(whole.subarray(0, length)).kind).toBe('partial');
  });

  it('finds no name where there is none', async () => {
    expect(readClientHello(await makeHello(undefined))).toEqual({ kind: 'hello' });
    expect(readClientHello(build([]))).toEqual({ kind: 'hello' });
  });

  const list = name('ok.test');
  it.each<[what: string, bytes: Buffer]>([
    ['two names', build([[0, name('ok.test', 'evil.test')]])],
    [
      'the extension twice',
      build([
        [0, list],
        [0, list],
      ]),
    ],
    ['a name that is empty', build([[0, name('')]])],
    ['a list that is longer than it says', build([[0, Buffer.concat([list, Buffer.from('x')])]])],
    ['a list that is shorter than it says', build([[0, list.subarray(0, -1)]])],
    ['another handshake', Buffer.from(build([[0, list]])).fill(2, 5, 6)],
    ['a record of another kind', Buffer.from([0x16, 3, 1, 0, 1, 1, 0x17, 3, 1, 0, 1])],
    ['an empty record', Buffer.from([0x16, 3, 1, 0, 0])],
    ['a record that is too long', Buffer.from([0x16, 3, 1, 0xff, 0xff])],
    ['a hello that is too long', Buffer.from([0x16, 3, 1, 0, 4, 1, 1, 0, 0])],
    ['more records than anybody sends', split(build([[0, name('x'.repeat(99))]]), 1)],
    ['another version', Buffer.from([0x16, 2, 0, 0, 4])],
  ])('takes nothing with %s', (_, bytes) => {
    expect(readClientHello(bytes).kind).toBe('bad');
  });

  it('makes something of whatever bytes there are', () => {
    const whole = build([[0, list]]);
    fc.assert(
      fc.property(fc.nat(whole.length - 1), fc.nat(255), (at, byte) => {
        const changed = Buffer.from(whole).fill(byte, at, at + 1);
        expect(['hello', 'bad', 'partial']).toContain(readClientHello(changed).kind);
      }),
    );
  });
});
