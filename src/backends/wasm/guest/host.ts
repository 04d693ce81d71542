/** What leads out: an operation, its arguments as JSON or one text, and bytes. */
type Host = (op: string, text: string, bytes?: Uint8Array) => unknown;

declare global {
  var __assayHost: Host;
}

const found = globalThis.__assayHost;
Reflect.deleteProperty(globalThis, '__assayHost');

function host(op: string, text: string, bytes?: Uint8Array): unknown {
  return bytes ? found(op, text, bytes) : found(op, text);
}

export function send(op: string, text: string, bytes?: Uint8Array): void {
  host(op, text, bytes);
}

export function askText(op: string, args: readonly unknown[], bytes?: Uint8Array): string {
  return host(op, JSON.stringify(args), bytes) as string;
}

export function askBytes(op: string, args: readonly unknown[]): Uint8Array {
  return host(op, JSON.stringify(args)) as Uint8Array;
}

export function askFunction(op: string, args: readonly unknown[]): (...args: unknown[]) => unknown {
  return host(op, JSON.stringify(args)) as (...args: unknown[]) => unknown;
}

export function encode(text: string): Uint8Array {
  return host('encode', String(text)) as Uint8Array;
}

export function decode(bytes: Uint8Array): string {
  return host('decode', '', bytes) as string;
}

export interface Run {
  readonly argv: readonly string[];
  readonly env: readonly (readonly [string, string])[];
  readonly cwd: string;
  readonly modules?: readonly string[];
  readonly canEval: boolean;
}

export const run = JSON.parse(askText('run', [])) as Run;
