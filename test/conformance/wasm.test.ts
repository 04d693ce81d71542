import { createWasmBackend } from '../../src/backends/wasm/wasm-backend.ts';
import { defineConformance } from './kit.ts';

await defineConformance({
  backend: createWasmBackend(),
  without: {
    processes: 'there are none in WebAssembly: a program cannot start another',
    syscalls: 'there is no kernel below the engine: code has no way to make a system call',
    sockets: 'there are none: the engine is given no way to make one',
    signals: 'there are none: nobody inside can send or catch one',
    threads: 'there are none: the engines are built without',
  },
  notRun: {
    'runs the javascript whose version it says': 'QuickJS does not tell programs its version',
    'usage: says how much time and memory it took':
      'process_time() of Python on WASI goes by the clock; test/backends/wasm/sandboxed/limits.test.ts has its own',
  },
  // CPython takes a second to start where the machine is busy.
  slowness: 2,
  makeUnavailable: () =>
    createWasmBackend({ find: () => ({ javascript: undefined, python: undefined }) }),
});
