import { NAMESPACES } from '../host/facts.ts';
import { type LaunchPlan, type MountOp, type PlanFlag, SOFT_LIMITS } from '../plan/plan.ts';

const MAGIC = 'ASSAYPL1';

/** The numbers of native/plan.c. */
const RECORD = {
  flags: 1,
  argv: 2,
  env: 3,
  cwd: 4,
  mounts: 5,
  landlock: 6,
  landlockRules: 7,
  filter: 8,
  brokerRules: 9,
  rlimit: 10,
  cgroup: 11,
  times: 12,
  softLimit: 13,
  banner: 14,
  tmp: 15,
  end: 16,
  doors: 17,
} as const;

const MOUNT_KIND = {
  hide: 1,
  bind: 2,
  mask: 3,
  tmpfs: 4,
  symlink: 5,
  proc: 6,
  devpts: 7,
  directory: 8,
  file: 9,
} as const;
const EFFECT = { allow: 1, deny: 2, protect: 3, lift: 4 } as const;
const FLAG: Readonly<Record<PlanFlag, number>> = {
  isCapsDropped: 2,
  isNotified: 4,
  isGated: 8,
  isRootReadOnly: 16,
  isReadProbed: 32,
  isGitGuarded: 64,
  isAbiExact: 128,
  isAllowListKept: 256,
  isRecorded: 512,
  isObserveOnly: 1024,
  isReadJudged: 2048,
  hasDoors: 4096,
  isTransparent: 8192,
  isBrokered: 16_384,
  hasLazyDoors: 32_768,
  isOffNetwork: 65_536,
  hasNoCopies: 131_072,
};

const NOT_ASCII = /[^\0-\x7f]/;

/** The bytes of a text in UTF-8, as a string of code units below 256. */
function toUtf8Text(text: string): string {
  // What the engine does by itself is quicker than loading what `Buffer` needs for the same.
  if (text.isWellFormed()) return unescape(encodeURIComponent(text));
  return Buffer.from(text).toString('latin1');
}

/** Bytes as a string of code units below 256: joining strings is what a program that has just started does quickest. */
class Writer {
  private text: string;
  private body = '';

  constructor(start: string) {
    this.text = start;
  }

  raw(bytes: string): void {
    this.body += bytes;
  }

  u32(value: number): void {
    this.body += String.fromCharCode(
      value & 255,
      (value >>> 8) & 255,
      (value >>> 16) & 255,
      value >>> 24,
    );
  }

  u64(value: number): void {
    this.u32(value % 2 ** 32);
    this.u32(Math.floor(value / 2 ** 32));
  }

  string(text: string): void {
    this.text8(text);
    this.body += '\0';
  }

  /** Without the byte that ends a string. */
  text8(text: string): void {
    this.body += NOT_ASCII.test(text) ? toUtf8Text(text) : text;
  }

  /** Strings up to the end of the record. */
  strings(list: readonly string[]): void {
    if (list.length > 0) this.string(list.join('\0'));
  }

  /** Closes the record that has been written since the last one. */
  end(kind: number): void {
    const { body } = this;
    this.body = '';
    this.u32(kind);
    this.u32(body.length);
    this.text += this.body + body;
    this.body = '';
  }

  finish(): Uint8Array {
    const { text } = this;
    // What `Buffer.from` comes down to, without all that it loads first.
    const { latin1Write } = Buffer.prototype as { latin1Write?: (text: string) => number };
    if (latin1Write === undefined) return Buffer.from(text, 'latin1');
    const bytes = new Uint8Array(text.length);
    latin1Write.call(bytes, text);
    return bytes;
  }
}

function record(writer: Writer, kind: number, body: () => void): void {
  body();
  writer.end(kind);
}

function writeFlags(writer: Writer, plan: LaunchPlan): void {
  let flags = 0;
  for (const name in FLAG) if (plan.flags[name as PlanFlag]) flags |= FLAG[name as PlanFlag];
  writer.u32(flags);
  writer.u32(
    NAMESPACES.reduce(
      (bits, name, index) => (plan.namespaces.includes(name) ? bits | (1 << index) : bits),
      0,
    ),
  );
  writer.u32(plan.uid);
  writer.u32(plan.gid);
  writer.u32(plan.parentPid);
  writer.u32(plan.landlock?.abi ?? 0);
  writer.u64(plan.maxFiles);
  writer.u32(plan.firstPid);
}

/** As text, three strings each: every other way takes longer to write. */
function describeMount(op: MountOp): string[] {
  let flags = 0;
  if (op.kind === 'bind') flags = (op.isWritable ? 1 : 0) | (op.canExec ? 2 : 0);
  if (op.kind === 'tmpfs' && op.isShared) flags = 1;
  const size = op.kind === 'tmpfs' ? op.sizeBytes : op.kind === 'proc' ? op.pidMax : 0;
  const inodes = op.kind === 'tmpfs' ? op.inodes : op.kind === 'proc' ? op.firstPid : 0;
  const source =
    op.kind === 'bind'
      ? op.source
      : op.kind === 'symlink'
        ? op.target
        : op.kind === 'file'
          ? op.text
          : '';
  return [`${MOUNT_KIND[op.kind]} ${flags} ${size} ${inodes}`, source, 'path' in op ? op.path : ''];
}

function writeBoundary(writer: Writer, plan: LaunchPlan, filter: string | null): void {
  record(writer, RECORD.mounts, () => writer.strings(plan.mounts.flatMap(describeMount)));
  const { landlock } = plan;
  if (landlock) {
    record(writer, RECORD.landlock, () => {
      writer.u64(landlock.fs);
      writer.u64(landlock.net);
      writer.u64(landlock.scope);
    });
    for (const { access, paths } of landlock.rules)
      record(writer, RECORD.landlockRules, () => {
        writer.u64(access);
        writer.strings(paths);
      });
  }
  if (filter !== null) record(writer, RECORD.filter, () => writer.raw(filter));
  for (const { firstId, effect, ops, patterns } of plan.brokerRules)
    record(writer, RECORD.brokerRules, () => {
      writer.u32(firstId);
      writer.u32(EFFECT[effect]);
      writer.u32(ops);
      writer.strings(patterns);
    });
}

function writeLimits(writer: Writer, plan: CallPlan): void {
  for (const limit of plan.rlimits)
    record(writer, RECORD.rlimit, () => {
      writer.u32(limit.resource);
      writer.u64(limit.soft);
      writer.u64(limit.hard);
    });
  for (const path of plan.cgroups) record(writer, RECORD.cgroup, () => writer.string(path));
  for (const [index, name] of SOFT_LIMITS.entries()) {
    const value = plan.softLimits[name];
    if (value === undefined) continue;
    record(writer, RECORD.softLimit, () => {
      writer.u32(index);
      writer.u64(value);
    });
  }
  record(writer, RECORD.times, () => {
    writer.u64(plan.timeoutMs);
    writer.u64(plan.graceMs);
  });
}

/** Bytes as the text that is put into a plan, each of them one code unit. */
export function toByteText({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString('latin1');
}

/** What differs between the calls of a sandbox. */
export type CallPlan = Pick<
  LaunchPlan,
  'argv' | 'env' | 'cwd' | 'banner' | 'cgroups' | 'rlimits' | 'softLimits' | 'timeoutMs' | 'graceMs'
>;

function writeSurroundings(writer: Writer, plan: LaunchPlan, filter: string | null): void {
  record(writer, RECORD.flags, () => writeFlags(writer, plan));
  record(writer, RECORD.tmp, () => {
    writer.u32(plan.privateTmp.length);
    writer.strings([plan.scopedDir, ...plan.privateTmp, ...plan.sharedInTmp]);
  });
  writeBoundary(writer, plan, filter);
  if (plan.doorRanges.length > 0)
    record(writer, RECORD.doors, () => writer.strings(plan.doorRanges));
}

function writeCall(writer: Writer, plan: CallPlan): void {
  record(writer, RECORD.argv, () => writer.strings(plan.argv));
  record(writer, RECORD.env, () =>
    writer.strings(plan.env.map(([name, value]) => `${name}=${value}`)),
  );
  record(writer, RECORD.cwd, () => writer.string(plan.cwd));
  writeLimits(writer, plan);
  if (plan.banner) record(writer, RECORD.banner, () => writer.text8(plan.banner));
  record(writer, RECORD.end, () => undefined);
}

/** The plan as native/plan.c reads it. */
export function encodePlan(plan: LaunchPlan, filter: string | null): Uint8Array {
  const writer = new Writer(MAGIC);
  writeSurroundings(writer, plan, filter);
  writeCall(writer, plan);
  return writer.finish();
}

/** The part that all calls of a sandbox share; `encodeCall()` makes the rest, which follows it. */
export function encodeBoundary(plan: LaunchPlan, filter: string | null): Uint8Array {
  const writer = new Writer(MAGIC);
  writeSurroundings(writer, plan, filter);
  return writer.finish();
}

export function encodeCall(plan: CallPlan): Uint8Array {
  const writer = new Writer('');
  writeCall(writer, plan);
  return writer.finish();
}
