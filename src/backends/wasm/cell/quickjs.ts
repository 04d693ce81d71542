import { GuestMemory } from './guest-memory.ts';
import { makeWasi, type WasiCall } from './wasi.ts';
import type { KeeperLine } from './keeper-line.ts';

/** A value inside, by the address of a cell that holds it. */
export type Box = number & { readonly box: unique symbol };

interface Exports {
  readonly memory: WebAssembly.Memory;
  _initialize(): void;
  wasm_malloc(bytes: number): number;
  wasm_free(pointer: number): void;
  qjs_init(): number;
  qjs_set_memory_limit(bytes: number): void;
  qjs_set_max_stack_size(bytes: number): void;
  qjs_set_module_loader(isOn: number): void;
  qjs_set_promise_rejection_handler(isOn: number): void;
  qjs_eval(code: number, length: number, name: number, flags: number): Box;
  qjs_call(callee: Box, self: Box, count: number, args: number): Box;
  qjs_is_exception(box: Box): number;
  qjs_get_exception(): Box;
  qjs_throw(box: Box): void;
  qjs_new_error(): Box;
  qjs_new_string(text: number, length: number): Box;
  qjs_new_uint8_array(data: number, length: number): Box;
  qjs_new_host_function(name: number, length: number, argumentCount: number): Box;
  qjs_get_undefined(): Box;
  qjs_get_global(): Box;
  qjs_get_prop_string(box: Box, name: number): Box;
  qjs_set_prop_string(box: Box, name: number, value: Box): void;
  qjs_is_string(box: Box): number;
  qjs_is_number(box: Box): number;
  qjs_get_float64(box: Box): number;
  qjs_get_string_len(box: Box, lengthPointer: number): number;
  qjs_free_cstring(pointer: number): void;
  qjs_get_typed_array_buffer(box: Box, offset: number, length: number, size: number): Box;
  qjs_get_array_buffer(box: Box, lengthPointer: number): number;
  qjs_dup_value(box: Box): Box;
  qjs_free_value(box: Box): void;
  qjs_is_job_pending(): number;
  qjs_execute_pending_job(): number;
  qjs_promise_state(box: Box): number;
  qjs_promise_result(box: Box): Box;
  qjs_get_value_ptr(box: Box): number;
}

export const EVAL_GLOBAL = 0;
export const EVAL_MODULE = 1;
export const EVAL_COMPILE_ONLY = 1 << 5;

const MAX_STACK_BYTES = 512 * 1024;
/** What the engine needs besides the values of the program. */
const OWN_BYTES = 1 << 20;

/** Something thrown inside. */
export class GuestError extends Error {
  readonly value: Box;

  constructor(value: Box) {
    super('thrown inside');
    this.value = value;
  }
}

/** To be thrown inside with this message: an error of ours would show our own files there. */
export class HostRefusal extends Error {}

export interface QuickJsHooks {
  /** The one function that code inside can call; `bytes` is what came with it. */
  readonly onCall: (
    op: string,
    json: string,
    bytes: Uint8Array | undefined,
  ) => string | Uint8Array | Box;
  readonly resolve: (base: string, specifier: string) => string;
  readonly load: (name: string) => string;
  /** Of a promise, by a number that it keeps. */
  readonly onRejection: (promise: number, reason: Box, isHandled: boolean) => void;
}

export interface QuickJsOptions {
  readonly module: WebAssembly.Module;
  readonly memoryBytes: number;
  readonly line: KeeperLine;
  readonly hooks: QuickJsHooks;
}

/** One instance of QuickJS, which runs one program. Nothing of it is ever used again, so little of it is given back. */
export class QuickJs {
  private readonly memory = new GuestMemory();
  private readonly api: Exports;

  constructor({ module, memoryBytes, line, hooks }: QuickJsOptions) {
    const wasi = makeWasi({ memory: this.memory, line, argv: [], env: [] });
    const { exports } = new WebAssembly.Instance(module, {
      wasi_snapshot_preview1: wasi as WebAssembly.ModuleImports,
      env: this.makeImports(hooks) as WebAssembly.ModuleImports,
    });
    this.api = exports as unknown as Exports;
    this.memory.attach(this.api.memory);
    this.api._initialize();
    if (this.api.qjs_init() !== 0) throw new Error('QuickJS does not start');
    this.api.qjs_set_memory_limit(Math.max(OWN_BYTES, memoryBytes - OWN_BYTES));
    this.api.qjs_set_max_stack_size(MAX_STACK_BYTES);
    this.api.qjs_set_module_loader(1);
    this.api.qjs_set_promise_rejection_handler(1);
  }

  get sizeBytes(): number {
    return this.memory.sizeBytes;
  }

  private makeImports(hooks: QuickJsHooks): Record<string, WasiCall> {
    return {
      host_interrupt: () => 0,
      // Time inside is UTC: the host's zone is nobody's business.
      host_get_timezone_offset: () => 0,
      host_promise_rejection: (promise: Box, reason: Box, isHandled: number) =>
        hooks.onRejection(this.api.qjs_get_value_ptr(promise), reason, isHandled !== 0),
      host_module_normalize: (base: number, name: number) =>
        this.refuseInside(
          () => this.putText(hooks.resolve(this.readName(base), this.readName(name))).pointer,
        ),
      host_module_load: (name: number, lengthPointer: number) =>
        this.refuseInside(() => {
          const { pointer, length } = this.putText(hooks.load(this.readName(name)));
          this.memory.setUint32(lengthPointer, length);
          return pointer;
        }),
      host_call: (_name: number, _length: number, _self: Box, count: number, args: number) =>
        this.refuseInside(() => {
          const list = this.memory.view(args, Math.min(count >>> 0, 3) * 4);
          const boxes = Array.from(
            { length: list.byteLength / 4 },
            (_, index) => list.getUint32(index * 4, true) as Box,
          );
          const [op, json, bytes] = boxes;
          const result = hooks.onCall(
            op === undefined ? '' : this.toText(op),
            json === undefined ? '[]' : this.toText(json),
            bytes === undefined ? undefined : this.toBytes(bytes),
          );
          if (typeof result === 'string') return this.newText(result);
          return typeof result === 'number' ? result : this.newBytes(result);
        }),
    };
  }

  /** What we refuse is thrown inside; what is thrown inside meanwhile stays thrown; our own faults go to the top. */
  private refuseInside(act: () => number): number {
    try {
      return act();
    } catch (error) {
      if (error instanceof GuestError) this.api.qjs_throw(error.value);
      else if (error instanceof HostRefusal) this.throwInside(error.message);
      else throw error;
      return 0;
    }
  }

  private throwInside(message: string): void {
    const error = this.api.qjs_new_error();
    this.setProperty(error, 'message', this.newText(message));
    this.api.qjs_throw(error);
  }

  private allocate(bytes: number): number {
    const pointer = this.api.wasm_malloc(bytes);
    if (pointer === 0) throw new HostRefusal('out of memory');
    return pointer;
  }

  private putBytes(bytes: Uint8Array): { pointer: number; length: number } {
    const pointer = this.allocate(bytes.length + 1);
    const target = this.memory.bytes(pointer, bytes.length + 1);
    target.set(bytes);
    target[bytes.length] = 0;
    return { pointer, length: bytes.length };
  }

  private putText(text: string): { pointer: number; length: number } {
    return this.putBytes(Buffer.from(text));
  }

  private withText<T>(text: string, use: (pointer: number, length: number) => T): T {
    const { pointer, length } = this.putText(text);
    try {
      return use(pointer, length);
    } finally {
      this.api.wasm_free(pointer);
    }
  }

  private readName(pointer: number): string {
    const rest = this.memory.bytes(pointer, this.memory.sizeBytes - (pointer >>> 0));
    const end = rest.subarray(0, 1 << 16).indexOf(0);
    if (end < 0) throw new HostRefusal('A name is too long');
    return Buffer.from(rest.subarray(0, end)).toString();
  }

  newText(text: string): Box {
    return this.withText(text, (pointer, length) => this.api.qjs_new_string(pointer, length));
  }

  private newBytes(bytes: Uint8Array): Box {
    const { pointer, length } = this.putBytes(bytes);
    try {
      return this.api.qjs_new_uint8_array(pointer, length);
    } finally {
      this.api.wasm_free(pointer);
    }
  }

  /** Of a text; of anything else nothing, for asking would run code inside. */
  toText(box: Box): string {
    if (!this.api.qjs_is_string(box)) throw new HostRefusal('A text is expected');
    const length = this.allocate(4);
    try {
      const pointer = this.api.qjs_get_string_len(box, length);
      if (pointer === 0) throw new HostRefusal('out of memory');
      const count = this.memory.view(length, 4).getUint32(0, true);
      const text = Buffer.from(this.memory.bytes(pointer, count)).toString();
      this.api.qjs_free_cstring(pointer);
      return text;
    } finally {
      this.api.wasm_free(length);
    }
  }

  private toBytes(box: Box): Uint8Array {
    const numbers = this.allocate(16);
    try {
      const buffer = this.api.qjs_get_typed_array_buffer(box, numbers, numbers + 4, numbers + 8);
      if (this.api.qjs_is_exception(buffer)) throw new GuestError(this.api.qjs_get_exception());
      const data = this.api.qjs_get_array_buffer(buffer, numbers + 12);
      const view = this.memory.view(numbers, 16);
      const bytes = this.memory
        .bytes(data + view.getUint32(0, true), view.getUint32(4, true))
        .slice();
      this.api.qjs_free_value(buffer);
      return bytes;
    } finally {
      this.api.wasm_free(numbers);
    }
  }

  toNumber(box: Box): number {
    return this.api.qjs_is_number(box) ? this.api.qjs_get_float64(box) : Number.NaN;
  }

  /** The value, or what it threw as a `GuestError`. */
  private check(box: Box): Box {
    if (!this.api.qjs_is_exception(box)) return box;
    throw new GuestError(this.api.qjs_get_exception());
  }

  eval(code: string, name: string, flags: number): Box {
    return this.check(
      this.withText(code, (text, length) =>
        this.withText(name, (namePointer) => this.api.qjs_eval(text, length, namePointer, flags)),
      ),
    );
  }

  call(callee: Box, ...args: Box[]): Box {
    const list = this.allocate(Math.max(1, args.length) * 4);
    for (const [index, box] of args.entries()) this.memory.setUint32(list + index * 4, box);
    const result = this.api.qjs_call(callee, this.api.qjs_get_undefined(), args.length, list);
    this.api.wasm_free(list);
    return this.check(result);
  }

  property(box: Box, name: string): Box {
    return this.check(this.withText(name, (pointer) => this.api.qjs_get_prop_string(box, pointer)));
  }

  private setProperty(box: Box, name: string, value: Box): void {
    this.withText(name, (pointer) => this.api.qjs_set_prop_string(box, pointer, value));
  }

  /** Makes the one function that leads out, under a name that the first code inside takes away. */
  giveHost(name: string): void {
    const host = this.withText('host', (pointer, length) =>
      this.api.qjs_new_host_function(pointer, length, 3),
    );
    this.setProperty(this.api.qjs_get_global(), name, host);
  }

  /** Runs what is waiting; one that throws is thrown here. */
  runJobs(): void {
    while (this.api.qjs_is_job_pending())
      if (this.api.qjs_execute_pending_job() < 0)
        throw new GuestError(this.api.qjs_get_exception());
  }

  /** What a module was rejected with, if it was. */
  rejectionOf(promise: Box): Box | undefined {
    return this.api.qjs_promise_state(promise) === 2
      ? this.api.qjs_promise_result(promise)
      : undefined;
  }
}
