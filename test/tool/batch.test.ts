import { describe, expect, it } from 'vitest';
import {
  type BatchOptions,
  type BatchProgress,
  runBatch,
  type TaskResult,
} from '../../src/tool/batch.ts';
import { locateInJson } from '../../src/tool/locate-json.ts';
import { makeUnstarted } from '../../src/tool/code-output.ts';

const OK: TaskResult = {
  ...makeUnstarted('refused', { reason: '', codeSha256: '' }),
  exit_code: 0,
};

async function* toChunks(text: string, size = 7): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) {
    await Promise.resolve();
    yield bytes.subarray(at, at + size);
  }
}

interface Line {
  id: string;
  line: number;
  error?: { message: string; line: number; column: number };
}

async function run(
  text: string,
  options: Partial<BatchOptions> = {},
): Promise<{ lines: Line[]; progress: BatchProgress }> {
  const lines: Line[] = [];
  const progress = await runBatch({
    input: toChunks(text),
    parallel: 2,
    run: () => Promise.resolve(OK),
    write: (line) => {
      lines.push(JSON.parse(line) as Line);
      return Promise.resolve();
    },
    ...options,
  });
  return { lines, progress };
}

const task = (id: string): string => JSON.stringify({ id, language: 'python', code: 'print(1)' });
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe('runBatch()', () => {
  it('writes results in the order of the tasks, whichever ends first', async () => {
    const ids = Array.from({ length: 20 }, (_, index) => `t${index}`);
    const { lines, progress } = await run(ids.map(task).join('\n'), {
      parallel: 5,
      run: async ({ id }) => {
        await sleep(id === 't0' ? 20 : Math.random() * 3);
        return OK;
      },
    });
    expect(lines.map(({ id }) => id)).toEqual(ids);
    expect(progress).toEqual({ done: 20, failed: 0, running: 0 });
  });

  it('runs no more at a time than it may', async () => {
    let running = 0;
    let most = 0;
    await run(Array.from({ length: 30 }, (_, index) => task(String(index))).join('\n'), {
      parallel: 3,
      run: async () => {
        most = Math.max(most, ++running);
        await sleep(1);
        running -= 1;
        return OK;
      },
    });
    expect(most).toBe(3);
  });

  it('starts no more tasks while a slow one or a slow reader holds up the results', async () => {
    let started = 0;
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const running = run(Array.from({ length: 50 }, (_, index) => task(String(index))).join('\n'), {
      parallel: 2,
      run: async ({ id }) => {
        started += 1;
        if (id === '0') await held;
        return OK;
      },
    });
    await sleep(30);
    expect(started).toBeLessThanOrEqual(8);
    release();
    expect((await running).lines).toHaveLength(50);

    let written = 0;
    started = 0;
    const slow = run(Array.from({ length: 50 }, (_, index) => task(String(index))).join('\n'), {
      run: () => {
        started += 1;
        return Promise.resolve(OK);
      },
      write: async () => {
        written += 1;
        await sleep(1);
        expect(started - written).toBeLessThanOrEqual(9);
      },
    });
    expect((await slow).progress.done).toBe(50);
  });

  it.each([
    ['{"language": "python", "code": }', 'a value is missing', 32],
    ['{"id": "x", "language": "ruby", "code": ""}', 'language is one of', 13],
    ['{"language":"bash","code":"x","files":[{"path":"a","content":1}]}', 'files[0].content', 52],
    ['{"language":"bash","code":"x","code":"y"}', 'twice', 31],
    ['{"language":"bash","code":"x","file":"y"}', 'one of "code" and "file"', 1],
    ['{"language":"bash","code":"x","sandbox":false}', 'has no "sandbox"', 31],
    ['[1]', 'must be an object', 1],
  ])('answers %s with what is wrong and where, and goes on', async (bad, message, column) => {
    const { lines, progress } = await run(`${task('a')}\n\n${bad}\n${task('b')}\n`);
    expect(lines.map(({ line }) => line)).toEqual([1, 3, 4]);
    expect(lines[1]?.error).toMatchObject({
      line: 3,
      column,
      message: expect.stringContaining(message),
    });
    expect(progress).toMatchObject({ done: 3, failed: 1 });
  });

  it('answers bytes that are not UTF-8, and goes on', async () => {
    const { lines } = await run('', {
      input: toChunksOf(Buffer.concat([Buffer.from([0xff, 0x0a]), Buffer.from(task('b'))])),
    });
    expect(lines.map(({ error }) => error?.message)).toEqual(['the line is not UTF-8', undefined]);
  });

  it('ends with what a task throws, and tells the others to stop', async () => {
    let stopped = 0;
    await expect(
      run([task('a'), task('b'), task('c')].join('\n'), {
        run: async ({ id }, { signal }) => {
          if (id === 'b') throw new Error('out of disk');
          await new Promise((resolve) => signal.addEventListener('abort', resolve));
          stopped += 1;
          return OK;
        },
      }),
    ).rejects.toThrow('out of disk');
    expect(stopped).toBe(1);
  });

  it('ends with what the reader throws', async () => {
    await expect(
      run(task('a'), { write: () => Promise.reject(new Error('broken pipe')) }),
    ).rejects.toThrow('broken pipe');
  });

  it('starts nothing more once it is told to stop', async () => {
    const abort = new AbortController();
    let started = 0;
    await run(Array.from({ length: 50 }, (_, index) => task(String(index))).join('\n'), {
      signal: abort.signal,
      run: () => {
        started += 1;
        abort.abort();
        return Promise.resolve(OK);
      },
    });
    expect(started).toBeLessThanOrEqual(3);
  });
});

async function* toChunksOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  await Promise.resolve();
  yield bytes;
}

describe('locateInJson()', () => {
  it.each([
    ['{"a": {"b": [1, "x,]", {"c": null}]}}', ['a', 'b', 2, 'c'], '"c"'],
    ['{"a": {"b": [1, "x,]", {"c": null}]}}', ['a', 'b', 1], '"x,]"'],
    ['  {"x": "\\"}", "y": -1.5e3 , "z":true}', ['z'], '"z"'],
    ['{"a": 1}', ['b'], '{'],
    ['[]', [3], '['],
  ])('finds in %s the path %j', (text, path, expected) => {
    expect(text.slice(locateInJson(text, path)).startsWith(expected)).toBe(true);
  });
});
