import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeName } from '../../src/core/name-bytes.ts';
import { commandLine, eventLine, newRecorder, programLine, record } from './lines.ts';

/** A name that no redaction touches, so that it must come out as it went in. */
const fileName = fc
  .uint8Array({ minLength: 1, maxLength: 60 })
  .map((bytes) =>
    Buffer.from(bytes)
      .toString('latin1')
      .replaceAll(/[=@\0]/g, '.'),
  )
  .filter((name) => !name.includes('\0'));

const line = fc.oneof(
  fc.record({ id: fc.nat(), path: fileName, target: fileName }).map((fields) => eventLine(fields)),
  fc
    .tuple(fc.nat(3), fc.nat(3), fileName)
    .map(([id, parent, image]) => programLine(id, parent, image)),
  fc.tuple(fc.nat(3), fc.array(fileName)).map(([id, argv]) => commandLine(id, argv)),
  fc.json().map((text) => `${text}\n`),
  fc
    .constantFrom('e', 'p', 'a', 'c', 'n', 'pids', 'lost', '__proto__')
    .chain((key) => fc.json().map((body) => `{"${key}":${body}}\n`)),
  fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
);

const stream = fc.array(line, { maxLength: 30 }).map((lines) => lines.join(''));

function cut(text: string, sizes: readonly number[]): string[] {
  const pieces: string[] = [];
  let at = 0;
  for (const size of sizes) pieces.push(text.slice(at, (at += size)));
  return [...pieces, text.slice(at)];
}

describe('Recorder, given anything', () => {
  it('neither throws nor depends on where the stream is cut', () => {
    fc.assert(
      fc.property(stream, fc.array(fc.nat(50)), (text, sizes) => {
        const recorder = newRecorder();
        for (const piece of cut(text, sizes)) recorder.feed(piece);
        expect(recorder.finish()).toEqual(record(text));
      }),
      { numRuns: 300 },
    );
  });

  it('counts each line that it cannot read', () => {
    fc.assert(
      fc.property(
        fc
          .uint8Array({ minLength: 1, maxLength: 200 })
          .map((bytes) => Buffer.from(bytes).toString('latin1').replaceAll('\n', ' ')),
        fc.nat(20),
        (garbage, count) => {
          const isJson = /^\s*["[{\dtfn-]/.test(garbage);
          fc.pre(!isJson);
          const text = `${garbage}\n`.repeat(count) + eventLine({ path: '/after' });
          expect(record(text)).toMatchObject({ damagedLines: count, events: [{ path: '/after' }] });
        },
      ),
    );
  });

  it('tells names apart by every byte, up to 4,096 of them', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fileName, { minLength: 2, maxLength: 10 }),
        fc.boolean(),
        (names, isLong) => {
          const prefix = isLong ? `/w${'/d'.repeat(2000)}` : '/w';
          const paths = names.map((name) => Buffer.from(`${prefix}/${name}`, 'latin1'));
          const text = paths.map((path, id) => eventLine({ id, path })).join('');
          const { events, damagedLines } = record(text);
          expect(damagedLines).toBe(0);
          const seen = events.map((event) => ('path' in event ? encodeName(event.path) : null));
          expect(seen).toEqual(paths);
        },
      ),
    );
  });

  it('takes a path of 4,096 bytes that are all escaped', () => {
    const path = Buffer.concat([Buffer.from('/'), Buffer.alloc(4095, 0xff)]);
    const { events, damagedLines } = record(eventLine({ path, requested: path, target: path }));
    expect(damagedLines).toBe(0);
    expect(events).toMatchObject([{ path: `/${'\\xff'.repeat(4095)}` }]);
  });
});
