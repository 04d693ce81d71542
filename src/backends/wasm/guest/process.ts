import { askText, decode, run, send } from './host.ts';
import { readStdin } from './files.ts';

function writerOf(op: 'stdout' | 'stderr'): {
  write: (data: unknown) => boolean;
  isTTY: boolean;
  fd: number;
} {
  return {
    fd: op === 'stdout' ? 1 : 2,
    isTTY: false,
    write: (data) => {
      if (data instanceof Uint8Array) send(op, '[]', data);
      else send(op === 'stdout' ? 'print' : 'complain', String(data));
      return true;
    },
  };
}

type Listener = (...args: unknown[]) => void;

/** What programs use of `process.stdin`: all of it at once, piece by piece, or by listening. */
const stdin = {
  fd: 0,
  isTTY: false,
  setEncoding: (): object => stdin,
  resume: (): object => stdin,
  on: (name: string, act: Listener): object => {
    if (name === 'data')
      queueMicrotask(() => {
        const text = decode(readStdin());
        if (text) act(text);
      });
    if (name === 'end') queueMicrotask(() => queueMicrotask(() => act()));
    return stdin;
  },
  // oxlint-disable-next-line require-await -- the shape that `for await` wants
  async *[Symbol.asyncIterator](): AsyncGenerator<string> {
    const text = decode(readStdin());
    if (text) yield text;
  },
};

const started = Date.now();

export const programProcess = {
  argv: ['/usr/bin/node', ...run.argv],
  env: Object.fromEntries(run.env),
  platform: 'wasi',
  arch: 'wasm32',
  version: 'v0.0.0-quickjs',
  versions: { quickjs: 'ng' },
  pid: 1,
  exitCode: undefined as number | undefined,
  stdin,
  stdout: writerOf('stdout'),
  stderr: writerOf('stderr'),
  cwd: (): string => run.cwd,
  exit: (code?: number): never => {
    askText('exit', [Number(code ?? programProcess.exitCode ?? 0)]);
    throw new Error('unreachable');
  },
  uptime: (): number => (Date.now() - started) / 1000,
  hrtime: Object.assign(
    (): [number, number] => {
      const now = performance.now();
      return [Math.floor(now / 1000), Math.floor((now % 1000) * 1e6)];
    },
    { bigint: (): bigint => BigInt(Math.floor(performance.now() * 1e6)) },
  ),
  nextTick: (act: Listener, ...args: unknown[]): void => queueMicrotask(() => act(...args)),
  on: (): object => programProcess,
};
