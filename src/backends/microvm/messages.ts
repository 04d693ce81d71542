import { requireArguments } from '../call-input.ts';
import { SandboxError } from '../sandbox-error.ts';
import type { SandboxLimits } from '../spec.ts';
import { breach, MAX_REQUEST_BYTES } from './frames.ts';

/** What the agent must speak; native/guest/agent.h has the same number. */
const PROTOCOL = 1;
/** The kernel shares out time in periods of this length. */
const CPU_PERIOD_US = 100_000;
const LEAST_QUOTA_US = 1000;

function words(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  values.forEach((value, index) => bytes.writeUInt32LE(value, index * 4));
  return bytes;
}

function amounts(...values: readonly (number | bigint)[]): Buffer {
  const bytes = Buffer.alloc(values.length * 8);
  values.forEach((value, index) => bytes.writeBigUInt64LE(BigInt(value), index * 8));
  return bytes;
}

function texts(list: readonly string[]): Buffer {
  const parts = list.flatMap((text) => {
    const bytes = Buffer.from(text);
    return [words(bytes.length), bytes];
  });
  return Buffer.concat([words(list.length), ...parts]);
}

function toQuota(cpus: number | undefined): number {
  return cpus === undefined ? 0 : Math.max(LEAST_QUOTA_US, Math.round(cpus * CPU_PERIOD_US));
}

export interface Setup {
  readonly limits: SandboxLimits;
  /** What is copied in comes on top of the limits. */
  readonly copiedBytes: number;
  readonly copiedFiles: number;
  readonly hasDoor: boolean;
  readonly timeMs: number;
  /** So that guests of one snapshot do not draw the same numbers. */
  readonly seed: Buffer;
}

export function encodeSetup(setup: Setup): Buffer {
  const { limits, copiedBytes, copiedFiles } = setup;
  return Buffer.concat([
    amounts(
      BigInt(Math.round(setup.timeMs)) * 1_000_000n,
      limits.memoryBytes ?? 0,
      limits.pids ?? 0,
      toQuota(limits.cpus),
      (limits.diskBytes ?? 0) + copiedBytes,
      (limits.inodes ?? 0) + copiedFiles,
    ),
    words(setup.hasDoor ? 1 : 0),
    setup.seed,
  ]);
}

export interface ExecRequest {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Absolute. */
  readonly cwd: string;
  readonly limits: SandboxLimits;
  readonly copiedBytes: number;
  readonly copiedFiles: number;
  /** The guest ends a call by itself this long after the host should have. */
  readonly wallSlackMs: number;
}

export function encodeExec(request: ExecRequest): Buffer {
  const { argv, env, cwd, limits } = request;
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  requireArguments(argv, Object.entries(env));
  const bytes = Buffer.concat([
    amounts(
      limits.memoryBytes ?? 0,
      limits.pids ?? 0,
      toQuota(limits.cpus),
      (limits.cpuMs ?? 0) * 1000,
      limits.wallMs === undefined ? 0 : limits.wallMs + request.wallSlackMs,
      (limits.diskBytes ?? 0) + request.copiedBytes,
      (limits.inodes ?? 0) + request.copiedFiles,
      limits.openFiles ?? 0,
      limits.outputBytes ?? Number.MAX_SAFE_INTEGER,
    ),
    texts([cwd]),
    texts(argv),
    texts(variables),
  ]);
  if (bytes.length > MAX_REQUEST_BYTES)
    throw new SandboxError(
      'input_invalid',
      `Arguments and environment take ${bytes.length} bytes; at most ${MAX_REQUEST_BYTES} fit`,
      { hint: 'Put what is long into a file, or hand it over on stdin' },
    );
  return bytes;
}

const FILE_OPS = {
  read: 1,
  write: 2,
  mkdir: 3,
  list: 4,
  stat: 5,
  remove: 6,
  rename: 7,
  link: 8,
  digest: 9,
  seal: 10,
} as const;
const PLACES = { workspace: 0, code: 1 } as const;
const BEGIN = 0x8000_0000;

export interface FileRequest {
  readonly op: keyof typeof FILE_OPS;
  readonly place?: keyof typeof PLACES;
  /** Bytes where a name is no text. */
  readonly path?: string | Buffer;
  readonly to?: string;
  /** How many bytes to read, or the mode of a file that is made. */
  readonly arg?: number;
  readonly isFirst?: boolean;
  readonly offset?: number;
  readonly data?: Uint8Array;
}

function toBytes(path: string | Buffer): Buffer {
  return typeof path === 'string' ? Buffer.from(path) : path;
}

export function encodeFileRequest(request: FileRequest): Buffer {
  const { op, place = 'workspace', arg = 0, isFirst = false, offset = 0 } = request;
  const path = toBytes(request.path ?? '');
  const to = Buffer.from(request.to ?? '');
  return Buffer.concat([
    words(FILE_OPS[op], PLACES[place], (isFirst ? BEGIN : 0) + arg),
    amounts(offset),
    words(path.length),
    path,
    words(to.length),
    to,
    request.data ?? Buffer.alloc(0),
  ]);
}

export interface Hello {
  /** Versions by the name of the language. */
  readonly versions: Readonly<Record<string, string>>;
}

export function decodeHello(payload: Buffer): Hello {
  const protocol = payload.readUInt32LE(0);
  if (protocol !== PROTOCOL)
    throw new SandboxError(
      'engine_failed',
      `The guest speaks version ${protocol} of the protocol, not ${PROTOCOL}`,
      { hint: 'Build it again: npm run engines' },
    );
  const lines = payload.toString('latin1', 4).split('\n').filter(Boolean);
  const versions = lines.map((line) => {
    const found = /^([a-z]{1,20}) ([\w.()+-]{1,60})$/.exec(line);
    if (!found) throw breach('a greeting that cannot be read');
    return [found[1], found[2]] as const;
  });
  return { versions: Object.fromEntries(versions) };
}

export const ENDINGS = ['itself', 'memory', 'cpu', 'wall', 'host'] as const;
const REACHED = ['pids', 'diskBytes', 'inodes', 'outputBytes'] as const;
/** Where a program that could not be started was stopped. */
const STEPS = ['none', 'setup', 'cwd', 'exec'] as const;

export interface Exit {
  readonly how: 'exited' | 'signaled' | 'unstarted';
  /** Exit code, number of the signal or of the error. */
  readonly value: number;
  readonly step: (typeof STEPS)[number];
  readonly endedBy: (typeof ENDINGS)[number];
  readonly reached: readonly (typeof REACHED)[number][];
  readonly cpuUs: number;
  readonly maxMemoryBytes: number;
  readonly diskBytes: number;
  readonly dropped: { readonly stdout: number; readonly stderr: number };
}

function readAmount(payload: Buffer, offset: number): number {
  const value = payload.readBigUInt64LE(offset);
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw breach(`an amount of ${value}`);
  return Number(value);
}

export function decodeExit(payload: Buffer): Exit {
  const how = (['exited', 'signaled', 'unstarted'] as const)[payload.readUInt32LE(0)];
  const step = STEPS[payload.readUInt32LE(8)];
  const endedBy = ENDINGS[payload.readUInt32LE(12)];
  const bits = payload.readUInt32LE(16);
  const value = payload.readUInt32LE(4);
  if (!how || !step || !endedBy || bits >= 1 << REACHED.length || value > 255)
    throw breach('an end that cannot be read');
  return {
    how,
    value,
    step,
    endedBy,
    reached: REACHED.filter((_, index) => bits & (1 << index)),
    cpuUs: readAmount(payload, 24),
    maxMemoryBytes: readAmount(payload, 32),
    diskBytes: readAmount(payload, 40),
    dropped: { stdout: readAmount(payload, 48), stderr: readAmount(payload, 56) },
  };
}

const KINDS = ['file', 'directory', 'link', 'other'] as const;

export interface Entry {
  readonly name: string;
  /** As it is, which need not be text. */
  readonly rawName: Buffer;
  readonly kind: (typeof KINDS)[number];
  readonly sizeBytes: number;
  readonly inode: bigint;
  /** When it, or what is in it, was last changed; programs cannot set that. */
  readonly changedNs: bigint;
}

const ENTRY_BYTES = 32;

export function decodeEntries(payload: Buffer): Entry[] {
  const entries: Entry[] = [];
  for (let at = 0; at < payload.length;) {
    if (payload.length - at < ENTRY_BYTES) throw breach('a list that is cut off');
    const kind = KINDS[payload.readUInt32LE(at) - 1];
    const length = payload.readUInt32LE(at + 4);
    const end = at + ENTRY_BYTES + length;
    if (!kind || end > payload.length) throw breach('a list that cannot be read');
    const rawName = payload.subarray(at + ENTRY_BYTES, end);
    const name = rawName.toString();
    if (name.includes('/') || name.includes('\0') || name === '.' || name === '..')
      throw breach('a name that leads elsewhere');
    entries.push({
      name,
      rawName,
      kind,
      sizeBytes: readAmount(payload, at + 8),
      inode: payload.readBigUInt64LE(at + 16),
      changedNs: payload.readBigUInt64LE(at + 24),
    });
    at = end;
  }
  return entries;
}
