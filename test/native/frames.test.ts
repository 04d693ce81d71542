import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { LocalFiles } from '../../src/backends/local/files.ts';
import { encodeSetUp, makeFrame, TO_HOLDER } from '../../src/backends/local/frames.ts';
import type { Holder } from '../../src/backends/local/holder.ts';
import { COMPILING_MS, ROOT, SANITIZER_ALARM, Workshop } from './compile.ts';
import { damage } from '../damage.ts';

const PARTS =
  'aftermath calls code digest forker holder inside remove match mounts outbox passing report root serve';
/** Of each reader, with what a sanitizer takes. */
const MOST_MEMORY_KB = 128 * 1024;
const CANNOT_TRY = 77;

/** All that is asked about files, as it goes over the connection. */
async function listRequests(): Promise<Buffer[]> {
  const asked: Buffer[] = [];
  const holder = {
    askFile: (request: Buffer) => {
      asked.push(request);
      return Promise.resolve({ errno: 2, bytes: Buffer.alloc(0) });
    },
  } as unknown as Holder;
  const files = new LocalFiles(holder);
  const paths = ['/workspace/a', '/workspace'].map((path) => Buffer.from(path));
  await Promise.allSettled([
    files.writeFile('a', 'text'),
    files.mkdir('d/e'),
    files.link('l', 'a'),
    files.readFile('a'),
    files.readdir('d'),
    files.stat('a'),
    files.rename('a', 'd/a'),
    files.holdCode('x.py', true),
    files.putCode('x.py', Buffer.from('1')),
    files.listTree({ hasDigests: true }),
    files.readStates(paths),
    files.listDirectories(paths),
    files.rm('d'),
  ]);
  return asked;
}

function toNumber(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

/** A sandbox with one call, as far as that is possible without a plan. */
function makeSession(): Buffer {
  const setUp = encodeSetUp({
    workspace: { kind: 'own', host: '' },
    workBytes: 1 << 20,
    workInodes: 100,
    tmpBytes: 1 << 20,
    tmpInodes: 100,
  });
  setUp.writeUInt32LE(0, 36); // no terminals: they need more than an arena has
  return Buffer.concat([
    makeFrame(TO_HOLDER.setup, 0, setUp),
    makeFrame(TO_HOLDER.boundary, 0, Buffer.from('ASSAYPL1')),
    makeFrame(TO_HOLDER.run, 1, Buffer.from('ASSAYPL1')),
    makeFrame(TO_HOLDER.stdin, 1, Buffer.from('input')),
    makeFrame(TO_HOLDER.stdinEnd, 1, Buffer.alloc(0)),
    makeFrame(TO_HOLDER.signal, 1, toNumber(15)),
    makeFrame(TO_HOLDER.clock, 1, toNumber(1000)),
    makeFrame(TO_HOLDER.kill, 1, Buffer.alloc(0)),
  ]);
}

/** What the helper is told first: a directory, a file, a link, and a place of the host. */
function makeScript(): Buffer {
  const steps = (
    [
      ['d', 0o755, '/tmp', ''],
      ['f', 0, '/file', 'text'],
      ['l', 0, '/link', 'file'],
      ['b', 1, '/shown', '/shown'],
    ] as const
  ).map(([kind, flags, path, data]) =>
    Buffer.concat([
      ...[kind.charCodeAt(0), flags, path.length, data.length].map(toNumber),
      Buffer.from(path + data),
    ]),
  );
  const script = Buffer.concat(steps);
  const { getuid, getgid } = process;
  const head = [getuid?.() ?? 0, getgid?.() ?? 0, '/run'.length, script.length].map(toNumber);
  return Buffer.concat([...head, Buffer.from('/run'), script]);
}

describe('the helper that stays', () => {
  const workshop = new Workshop();
  let driver = '';

  beforeAll(() => {
    const parts = PARTS.split(' ').map((name) => join(ROOT, 'native', `${name}.c`));
    const source = join(ROOT, 'test/native/frames-driver.c');
    const flags = ['-std=c11', ...workshop.findSanitizers()];
    const built = workshop.build('driver', [...flags, source, ...parts]);
    if ('problem' in built) throw new Error(built.problem);
    driver = built.program;
    mkdirSync(join(workshop.path, 'arena'));
  }, COMPILING_MS);
  afterAll(() => workshop.close());

  function readAll(what: 'holder' | 'serve', inputs: readonly Buffer[], skip: () => void): string {
    const { status, stdout, stderr } = spawnSync(driver, [what, join(workshop.path, 'arena')], {
      input: Buffer.concat(inputs.flatMap((input) => [toNumber(input.length), input])),
      encoding: 'latin1',
      env: { ASAN_OPTIONS: 'detect_leaks=0' },
    });
    if (status === CANNOT_TRY) skip();
    expect(stderr).not.toMatch(SANITIZER_ALARM);
    expect(status).toBe(0);
    const [letters = '', peakKb] = stdout.split('\n');
    expect(letters).toHaveLength(inputs.length);
    expect(Number(peakKb)).toBeLessThan(MOST_MEMORY_KB);
    return letters;
  }

  it.for([
    ['holder', makeSession()],
    ['serve', makeScript()],
  ] as const)('reads or refuses what is sent to it damaged (%s)', ([what, whole], { skip }) => {
    expect(readAll(what, [whole], skip)).toBe('r');
    expect(readAll(what, damage(whole), skip)).toMatch(/^[rd]+$/);
  });

  it('reads or refuses damaged questions about files', async ({ skip }) => {
    const frames = (await listRequests()).map((bytes) => makeFrame(TO_HOLDER.file, 1, bytes));
    expect(readAll('holder', [Buffer.concat(frames)], skip)).toBe('r');
    expect(readAll('holder', frames.flatMap(damage), skip)).toMatch(/^[rd]+$/);
  });
});
