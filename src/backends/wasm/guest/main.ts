import { askBytes, decode, encode, run, send } from './host.ts';
import { format, inspect } from './inspect.ts';
import { announceModules, getBuiltIn, makeRequire, runModule } from './modules.ts';
import { programProcess } from './process.ts';
import { tick, timerFunctions } from './timers.ts';
import { switchEvalOff } from './no-eval.ts';

class Utf8Encoder {
  readonly encoding = 'utf-8';

  encode(text = ''): Uint8Array {
    return encode(text);
  }
}

class Utf8Decoder {
  readonly encoding = 'utf-8';

  decode(bytes?: ArrayBuffer | ArrayBufferView): string {
    if (!bytes) return '';
    if (!ArrayBuffer.isView(bytes)) return decode(new Uint8Array(bytes));
    return decode(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  }
}

function define(name: PropertyKey, value: unknown): void {
  Object.defineProperty(globalThis, name, {
    value,
    writable: true,
    configurable: true,
    enumerable: false,
  });
}

const print = (...args: unknown[]): void => send('print', `${format(...args)}\n`);
const complain = (...args: unknown[]): void => send('complain', `${format(...args)}\n`);
const counts = new Map<string, number>();

define('console', {
  log: print,
  info: print,
  debug: print,
  dir: (value: unknown) => print(inspect(value)),
  table: print,
  group: print,
  groupEnd: () => undefined,
  error: complain,
  warn: complain,
  trace: complain,
  assert: (isTrue: unknown, ...args: unknown[]) => {
    if (!isTrue) complain('Assertion failed', ...args);
  },
  count: (label = 'default') => {
    counts.set(label, (counts.get(label) ?? 0) + 1);
    print(`${label}: ${counts.get(label)}`);
  },
  time: (label = 'default') => counts.set(`time ${label}`, performance.now()),
  timeEnd: (label = 'default') =>
    print(`${label}: ${(performance.now() - (counts.get(`time ${label}`) ?? 0)).toFixed(3)}ms`),
});
define('process', programProcess);
define('global', globalThis);
// Also in modules, since much code that awaits at its top has it.
define('require', makeRequire(run.cwd));
define('TextEncoder', Utf8Encoder);
define('TextDecoder', Utf8Decoder);
define('crypto', {
  getRandomValues: (array: Uint8Array) => {
    const { buffer, byteOffset, byteLength } = array;
    new Uint8Array(buffer, byteOffset, byteLength).set(askBytes('random', [byteLength]));
    return array;
  },
  randomUUID: () => {
    const bytes = askBytes('random', [16]);
    bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
    bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
    const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
    return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  },
});
for (const [name, act] of Object.entries(timerFunctions)) define(name, act);
Object.defineProperty(globalThis, Symbol.for('assay.module'), { value: getBuiltIn });
announceModules();
if (!run.canEval) switchEvalOff();

/** What the engine's driver calls. */
export const library = {
  runMain: (program: (...args: unknown[]) => unknown, filename: string): void => {
    runModule(program, filename);
  },
  tick,
  describe: (error: unknown): string => inspect(error),
  exitCode: (): number => Number(programProcess.exitCode ?? 0),
};
