import { posix } from 'node:path';
import type { ProgramEnd } from './keeper-line.ts';
import { GuestMemory } from './guest-memory.ts';
import { resolveScript } from './python-arguments.ts';
import { limitModules } from './python-library.ts';
import type { RunContext } from './run-context.ts';
import { makeWasi, ProgramExit } from './wasi.ts';

/** Sets what WASI has no way to say before a program starts: its directory. */
export const START_DIRECTORY = '/lib/assay';
export const START_FILE = `import os, sys
sys.path[:] = [path for path in sys.path if path != '${START_DIRECTORY}']
_rest = os.environ.pop('PYTHONPATH', '').removeprefix('${START_DIRECTORY}').removeprefix(':')
if _rest:
    os.environ['PYTHONPATH'] = _rest
os.chdir(os.environ['PWD'])
class _AsyncioFinder:
    # An event loop wakes itself by a pair of sockets, which there are none of; without signals and threads it need not.
    def find_spec(self, name, path=None, target=None):
        if name != 'asyncio.selector_events':
            return None
        sys.meta_path.remove(self)
        from importlib.util import find_spec
        spec = find_spec(name)
        load = spec.loader.exec_module
        def exec_module(module):
            load(module)
            for part in ('_make_self_pipe', '_close_self_pipe', '_write_to_self'):
                setattr(module.BaseSelectorEventLoop, part, lambda self: None)
        spec.loader.exec_module = exec_module
        return spec
sys.meta_path.insert(0, _AsyncioFinder())
`;

const TAIL_BYTES = 512;
const MEMORY_ERROR = /(?:^|\n)MemoryError(?:: [^\n]*)?\n?$|^Fatal Python error: [^\n]*memory/;

/** Variables that steer how the library in the interpreter is found. */
const STEERING = /^(?:__)?WASI_VFS|^PYTHONHOME$|^PYTHONPLATLIBDIR$/;

function makeEnvironment({ env, cwd }: RunContext['request']): [string, string][] {
  const given = new Map(env.filter(([name]) => !STEERING.test(name)));
  // Python makes these absolute before it can be told where it is.
  const own = given.get('PYTHONPATH')?.split(':').filter(Boolean) ?? [];
  const paths = [START_DIRECTORY, ...own.map((path) => posix.resolve(cwd, path))];
  given.set('PYTHONPATH', paths.join(':'));
  given.set('PYTHONDONTWRITEBYTECODE', '1');
  given.set('PWD', cwd);
  return [...given];
}

/** The end of what went to stderr: the one place that says why Python gave up. */
class Tail {
  private bytes = Buffer.alloc(0);

  add(data: Uint8Array): void {
    this.bytes = Buffer.concat([this.bytes, data.subarray(-TAIL_BYTES)]).subarray(-TAIL_BYTES);
  }

  get isMemoryError(): boolean {
    return MEMORY_ERROR.test(this.bytes.toString('latin1'));
  }
}

/** CPython, from its start to its end. */
export function runPython({ request, module, modules, line }: RunContext): ProgramEnd {
  const memory = new GuestMemory();
  const tail = new Tail();
  const imports = makeWasi({
    memory,
    line,
    argv: resolveScript(request.argv, request.cwd),
    env: makeEnvironment(request),
    onError: (data) => tail.add(data),
  });
  const { exports } = new WebAssembly.Instance(module, {
    wasi_snapshot_preview1: imports as WebAssembly.ModuleImports,
  });
  const { memory: own, _start: start } = exports as unknown as {
    memory: WebAssembly.Memory;
    _start: () => void;
  };
  memory.attach(own);
  limitModules(own, modules);
  const finish = (): Pick<ProgramEnd, 'maxMemoryBytes'> => ({ maxMemoryBytes: memory.sizeBytes });
  try {
    start();
    return { kind: 'exited', exitCode: 0, isOutOfMemory: false, ...finish() };
  } catch (error) {
    if (error instanceof ProgramExit) {
      const { exitCode } = error;
      const isOutOfMemory = exitCode !== 0 && tail.isMemoryError;
      return { kind: 'exited', exitCode: exitCode & 0xff, isOutOfMemory, ...finish() };
    }
    if (!(error instanceof WebAssembly.RuntimeError || error instanceof RangeError)) throw error;
    const isStackFull = error instanceof RangeError;
    return { kind: 'trapped', isStackFull, isOutOfMemory: tail.isMemoryError, ...finish() };
  }
}
