import { posix } from 'node:path';
import { FileError } from './errno.ts';
import type { ProgramEnd } from './keeper-line.ts';
import { makeJsHost, parseInside } from './javascript-host.ts';
import { readCommand, type JsCommand } from './javascript-command.ts';
import {
  type Box,
  EVAL_COMPILE_ONLY,
  EVAL_GLOBAL,
  EVAL_MODULE,
  GuestError,
  HostRefusal,
  QuickJs,
} from './quickjs.ts';
import type { RunContext } from './run-context.ts';
import { sleep } from './sleep.ts';
import { ProgramExit } from './wasi.ts';

const HOST = '__assayHost';
const OUT_OF_MEMORY = 'InternalError: out of memory';
/** In front of the first line, so that lines keep their numbers. */
const WRAPPER = '(function (exports, require, module, __filename, __dirname) {';
const wrap = (source: string): string => `${WRAPPER}${source}\n})`;

/** Places in the first line of a script, without what was put in front of it. */
function unwrapColumns(text: string, name: string): string {
  return text
    .split('\n')
    .map((line) => {
      const [before, rest] = line.split(`${name}:1:`, 2);
      if (rest === undefined) return line;
      const column = Number.parseInt(rest, 10);
      return `${before}${name}:1:${column - WRAPPER.length}${rest.slice(String(column).length)}`;
    })
    .join('\n');
}

/** One program in QuickJS, from its start to its end. */
class JsRun {
  private readonly context: RunContext;
  private readonly vm: QuickJs;
  private readonly rejected = new Map<number, Box>();
  private library: Box | undefined;
  /** The script that is the program, if it is one. */
  private wrapped: string | undefined;
  /** Names that the built-in modules export, as the code inside has said. */
  private exported: Readonly<Record<string, readonly string[]>> | undefined;

  constructor(context: RunContext) {
    this.context = context;
    const { line, request } = context;
    const host = makeJsHost({ context, load: (path) => this.loadFunction(path) });
    this.vm = new QuickJs({
      module: context.module,
      memoryBytes: request.limits.memoryBytes,
      line,
      hooks: {
        onCall: (op, json, bytes) => {
          if (op !== 'exports') return host(op, json, bytes);
          this.exported ??= parseInside(json) as typeof this.exported;
          return '';
        },
        resolve: (base, specifier) => this.resolve(base, specifier),
        load: (name) => this.loadModule(name),
        onRejection: (promise, reason, isHandled) => {
          if (isHandled) this.rejected.delete(promise);
          else this.rejected.set(promise, reason);
        },
      },
    });
  }

  get sizeBytes(): number {
    return this.vm.sizeBytes;
  }

  private isAllowed(name: string): boolean {
    const { modules } = this.context;
    return Object.hasOwn(this.exported ?? {}, name) && (!modules || modules.includes(name));
  }

  private resolve(base: string, specifier: string): string {
    const name = specifier.replace(/^node:/, '');
    if (!/^\.{0,2}\//.test(specifier)) {
      if (!this.isAllowed(name)) throw new HostRefusal(`Cannot find module '${specifier}'`);
      return `node:${name}`;
    }
    const from = base.startsWith('/') ? posix.dirname(base) : this.context.request.cwd;
    return posix.resolve(from, specifier);
  }

  private loadModule(name: string): string {
    if (!name.startsWith('node:')) return this.readCode(name);
    const bare = name.slice('node:'.length);
    if (!this.isAllowed(bare)) throw new HostRefusal(`Cannot find module '${bare}'`);
    const names = (this.exported?.[bare] ?? []).filter((key) => /^[A-Za-z_$][\w$]*$/.test(key));
    return [
      `const module = globalThis[Symbol.for('assay.module')](${JSON.stringify(bare)});`,
      'export default module;',
      ...names
        .filter((key) => key !== 'default')
        .map((key) => `const _${key} = module.${key}; export { _${key} as ${key} };`),
    ].join('\n');
  }

  /** Code is text of the files that were given; where code must not be made, what was written inside is none. */
  readCode(path: string): string {
    try {
      const { bytes, isFromInside } = this.context.line.file('readGiven', path);
      if (isFromInside && !this.context.canEval)
        throw new HostRefusal(`Cannot load '${path}': it was written inside, and eval is off`);
      return Buffer.from(bytes).toString();
    } catch (error) {
      if (error instanceof FileError) throw new HostRefusal(`Cannot find module '${path}'`);
      throw error;
    }
  }

  private loadFunction(path: string): Box {
    const code = this.readCode(path).replace(/^#!.*/, '');
    return this.vm.eval(wrap(code), path, EVAL_GLOBAL);
  }

  private get(name: string): Box {
    if (this.library === undefined) throw new Error('The library is not there yet');
    return this.vm.property(this.library, name);
  }

  private isScript(code: string, name: string): boolean {
    try {
      this.vm.eval(wrap(code), name, EVAL_GLOBAL | EVAL_COMPILE_ONLY);
      return true;
    } catch (error) {
      if (error instanceof GuestError) return false; // then it is a module, or says there what is wrong
      throw error;
    }
  }

  private start({ code, name, kind }: JsCommand): Box | undefined {
    const text = code.replace(/^#!.*/, '');
    if (kind === 'module' || (kind === 'either' && !this.isScript(text, name)))
      return this.vm.eval(text, name, EVAL_MODULE);
    this.wrapped = name;
    const program = this.vm.eval(wrap(text), name, EVAL_GLOBAL);
    this.vm.call(this.get('runMain'), program, this.vm.newText(name));
    return undefined;
  }

  /** Runs jobs and timers until there are none. */
  private finish(main: Box | undefined): void {
    const tick = this.get('tick');
    for (;;) {
      this.vm.runJobs();
      const failed = main === undefined ? undefined : this.vm.rejectionOf(main);
      const [unhandled] = this.rejected.values();
      if (failed !== undefined) throw new GuestError(failed);
      if (unhandled !== undefined) throw new GuestError(unhandled);
      const waitMs = this.vm.toNumber(this.vm.call(tick));
      if (!(waitMs >= 0)) return;
      sleep(waitMs);
    }
  }

  /** What code inside says about an error, and whether it is that there is no more memory. */
  private describe(value: Box): string {
    try {
      const text = this.vm.toText(this.vm.call(this.get('describe'), value));
      return this.wrapped === undefined ? text : unwrapColumns(text, this.wrapped);
    } catch (error) {
      if (error instanceof GuestError || error instanceof HostRefusal) return OUT_OF_MEMORY;
      throw error;
    }
  }

  run(): { exitCode: number; isOutOfMemory: boolean } {
    const { line, guest } = this.context;
    try {
      this.vm.giveHost(HOST);
      this.library = this.vm.eval(guest, 'assay:library', EVAL_GLOBAL);
      const command = readCommand(this.context, (path) => this.readCode(path));
      this.finish(this.start(command));
      return {
        exitCode: this.vm.toNumber(this.vm.call(this.get('exitCode'))) & 0xff,
        isOutOfMemory: false,
      };
    } catch (error) {
      if (error instanceof ProgramExit)
        return { exitCode: error.exitCode & 0xff, isOutOfMemory: false };
      if (error instanceof HostRefusal) {
        line.write('stderr', Buffer.from(`${error.message}\n`));
        return { exitCode: 1, isOutOfMemory: error.message === 'out of memory' };
      }
      if (!(error instanceof GuestError)) throw error;
      const text = this.describe(error.value);
      line.write('stderr', Buffer.from(`Uncaught ${text}\n`));
      return { exitCode: 1, isOutOfMemory: text.startsWith(OUT_OF_MEMORY) };
    }
  }
}

export function runJavaScript(context: RunContext): ProgramEnd {
  const run = new JsRun(context);
  const finish = (): Pick<ProgramEnd, 'maxMemoryBytes'> => ({ maxMemoryBytes: run.sizeBytes });
  try {
    return { kind: 'exited', ...run.run(), ...finish() };
  } catch (error) {
    if (!(error instanceof WebAssembly.RuntimeError || error instanceof RangeError)) throw error;
    const isStackFull = error instanceof RangeError;
    return { kind: 'trapped', isStackFull, isOutOfMemory: false, ...finish() };
  }
}
