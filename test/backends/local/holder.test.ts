import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';

import { describe, expect, it } from 'vitest';

import { LocalFiles } from '../../../src/backends/local/files.ts';
import { FROM_HOLDER, makeFrame } from '../../../src/backends/local/frames.ts';
import { Holder } from '../../../src/backends/local/holder.ts';
import { SandboxError } from '../../../src/backends/sandbox-error.ts';
import { damage } from '../../damage.ts';

class FakeSocket extends EventEmitter {
  isDestroyed = false;
  write = (): boolean => true;
  ref = (): this => this;
  unref = (): this => this;

  destroy(error?: Error): void {
    if (this.isDestroyed) return;
    this.isDestroyed = true;
    this.emit('error', error);
    this.emit('close');
  }
}

function number(value: number, bytes = 4): Buffer {
  const buffer = Buffer.alloc(bytes);
  buffer.writeUInt32LE(value);
  return buffer;
}

const name = (text: string): Buffer => Buffer.concat([number(text.length), Buffer.from(text)]);
const state = (kind: string): Buffer => Buffer.concat([Buffer.from(kind), Buffer.alloc(32, 1)]);

/** What a holder says over the life of a sandbox whose second request is about files. */
const SESSION = [
  makeFrame(FROM_HOLDER.failed, 0, Buffer.from('{"failed":"mount","what":"/tmp","errno":1}')),
  makeFrame(FROM_HOLDER.stdout, 1, Buffer.from('out')),
  makeFrame(FROM_HOLDER.stderr, 1, Buffer.from('err')),
  makeFrame(FROM_HOLDER.taken, 1, number(5)),
  makeFrame(FROM_HOLDER.report, 1, Buffer.from('{"end":{}}\n')),
  makeFrame(FROM_HOLDER.done, 1, Buffer.alloc(32)),
];

interface Question {
  readonly ask: (files: LocalFiles) => Promise<unknown>;
  readonly answer: Buffer;
}

const PATHS = ['/workspace/a', '/workspace'].map((path) => Buffer.from(path));
const QUESTIONS: Readonly<Record<string, Question>> = {
  tree: {
    ask: (files) => files.listTree({ hasDigests: true }),
    answer: Buffer.concat([state('f'), name('ab'), name('a'), state('d'), name(''), name('d')]),
  },
  names: {
    ask: (files) => files.readdir('.'),
    answer: Buffer.concat([Buffer.from('f'), name('a'), Buffer.from('d'), name('d')]),
  },
  stat: {
    ask: (files) => files.stat('a'),
    answer: Buffer.concat([Buffer.from('f'), number(3, 8)]),
  },
  states: {
    ask: (files) => files.readStates(PATHS),
    answer: Buffer.concat([state('f'), state('-')]),
  },
  directories: {
    ask: (files) => files.listDirectories(PATHS),
    answer: Buffer.concat([Buffer.from('f'), name('a'), Buffer.from('.?')]),
  },
};

/** How a sandbox ends whose holder says this, and nothing after it. */
async function hear(said: Buffer, ask: Question['ask']): Promise<unknown> {
  const socket = new FakeSocket();
  const holder = new Holder(socket as unknown as Socket);
  const nothing = (): void => undefined;
  const ready = holder.setUp(Buffer.alloc(0), Buffer.alloc(0)).catch((error: unknown) => error);
  const listener = { onOutput: nothing, onReport: nothing, onDone: nothing, onLost: nothing };
  holder.run(Buffer.alloc(0), listener);
  const asked = ask(new LocalFiles(holder)).then(nothing, (error: unknown) => error);
  socket.emit('data', said);
  socket.destroy();
  const ends = [await ready, await asked];
  return ends.find((end) => end !== undefined && !SandboxError.is(end));
}

describe.each(Object.entries(QUESTIONS))('a holder that is asked for %s', (_, { ask, answer }) => {
  const whole = Buffer.concat([
    ...SESSION,
    makeFrame(FROM_HOLDER.file, 2, Buffer.concat([number(0), answer])),
  ]);

  it('is understood', async () => {
    expect(await hear(whole, ask)).toBeUndefined();
  });

  it('is understood or refused with a clear error, however damaged what it says', async () => {
    for (const said of damage(whole)) expect(await hear(said, ask)).toBeUndefined();
  });
});

describe('a holder', () => {
  it('is not waited for when it announces more than there can be', () => {
    const socket = new FakeSocket();
    const holder = new Holder(socket as unknown as Socket);
    const frame = makeFrame(FROM_HOLDER.stdout, 1, Buffer.alloc(0));
    frame.writeUInt32LE(0xffff_fff0, 8);
    socket.emit('data', frame);
    expect(holder.isGone).toBe(true);
  });
});
