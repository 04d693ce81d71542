import { NAMESPACES } from '../host/facts.ts';
import {
  type BrokerRule,
  type LaunchPlan,
  type MountOp,
  type PlanFlag,
  SOFT_LIMITS,
} from '../plan/plan.ts';

/** The numbers of native/plan.c. */
const RECORD = {
  flags: 1,
  argv: 2,
  env: 3,
  cwd: 4,
  mount: 5,
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
} as const;
const EFFECT = { allow: 1, deny: 2, protect: 3, lift: 4 } as const;
const FLAG: Readonly<Record<PlanFlag, number>> = {
  hasLoopback: 1,
  isCapsDropped: 2,
  isNotified: 4,
  isGated: 8,
  isRootReadOnly: 16,
  isReadProbed: 32,
  isGitGuarded: 64,
  isAbiExact: 128,
  isAllowListKept: 256,
};

class Writer {
  private bytes = Buffer.allocUnsafe(32 * 1024);
  private at = 0;
  private start = 0;

  private reserve(size: number): void {
    if (this.at + size <= this.bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.bytes.length * 2, this.at + size));
    this.bytes.copy(larger, 0, 0, this.at);
    this.bytes = larger;
  }

  raw(data: Uint8Array): void {
    this.reserve(data.length);
    this.bytes.set(data, this.at);
    this.at += data.length;
  }

  u32(value: number): void {
    this.reserve(4);
    this.at = this.bytes.writeUInt32LE(value >>> 0, this.at);
  }

  u64(value: number | bigint): void {
    if (typeof value === 'bigint') {
      this.reserve(8);
      this.at = this.bytes.writeBigUInt64LE(value, this.at);
      return;
    }
    this.u32(value % 2 ** 32);
    this.u32(Math.floor(value / 2 ** 32));
  }

  string(text: string): void {
    const size = Buffer.byteLength(text) + 1;
    this.reserve(size);
    this.at += this.bytes.write(text, this.at);
    this.bytes[this.at++] = 0;
  }

  /** Strings up to the end of the record, joined first: one copy is much quicker than many. */
  strings(list: readonly string[]): void {
    if (list.length > 0) this.string(list.join('\0'));
  }

  begin(kind: number): void {
    this.u32(kind);
    this.u32(0);
    this.start = this.at;
  }

  end(): void {
    this.bytes.writeUInt32LE(this.at - this.start, this.start - 4);
  }

  finish(): Uint8Array {
    return this.bytes.subarray(0, this.at);
  }
}

function record(writer: Writer, kind: number, body: () => void): void {
  writer.begin(kind);
  body();
  writer.end();
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
}

function writeMount(writer: Writer, op: MountOp): void {
  writer.u32(MOUNT_KIND[op.kind]);
  writer.u32(
    op.kind === 'bind'
      ? (op.isWritable ? 1 : 0) | (op.canExec ? 2 : 0)
      : op.kind === 'tmpfs' && op.isShared
        ? 1
        : 0,
  );
  writer.u64(op.kind === 'tmpfs' ? op.sizeBytes : op.kind === 'proc' ? op.pidMax : 0);
  writer.u64(op.kind === 'tmpfs' ? op.inodes : 0);
  writer.string(op.kind === 'bind' ? op.source : op.kind === 'symlink' ? op.target : '');
  writer.string('path' in op ? op.path : '');
}

function writeBoundary(writer: Writer, plan: LaunchPlan): void {
  for (const op of plan.mounts) record(writer, RECORD.mount, () => writeMount(writer, op));
  const { landlock } = plan;
  if (landlock) {
    record(writer, RECORD.landlock, () => {
      writer.u64(landlock.fs);
      writer.u64(landlock.net);
      writer.u64(landlock.scope);
    });
    for (const [access, rules] of groupBy(landlock.rules, ({ access }) => access))
      record(writer, RECORD.landlockRules, () => {
        writer.u64(access);
        writer.strings(rules.map(({ path }) => path));
      });
  }
  if (plan.filter) record(writer, RECORD.filter, () => writer.raw(plan.filter ?? new Uint8Array()));
  for (const rules of splitRuns(plan.brokerRules))
    record(writer, RECORD.brokerRules, () => {
      const [first] = rules;
      writer.u32(first.id);
      writer.u32(EFFECT[first.effect]);
      writer.u32(first.ops);
      writer.strings(rules.map(({ pattern }) => pattern));
    });
}

function groupBy<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}

type Run = [BrokerRule, ...BrokerRule[]];

/** Rules in a row that differ only in their pattern, with numbers in a row: a whole list is one record then. */
function splitRuns(rules: readonly BrokerRule[]): Run[] {
  const runs: Run[] = [];
  let last: Run | undefined;
  for (const rule of rules) {
    const first = last?.[0];
    const isNext =
      first &&
      rule.effect === first.effect &&
      rule.ops === first.ops &&
      rule.id === first.id + (last?.length ?? 0);
    if (last && isNext) last.push(rule);
    else runs.push((last = [rule]));
  }
  return runs;
}

function writeLimits(writer: Writer, plan: LaunchPlan): void {
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

/** The plan as native/plan.c reads it. */
export function encodePlan(plan: LaunchPlan): Uint8Array {
  const writer = new Writer();
  writer.raw(Buffer.from('ASSAYPL1'));
  record(writer, RECORD.flags, () => writeFlags(writer, plan));
  record(writer, RECORD.argv, () => writer.strings(plan.argv));
  record(writer, RECORD.env, () =>
    writer.strings(plan.env.map(([name, value]) => `${name}=${value}`)),
  );
  record(writer, RECORD.cwd, () => writer.string(plan.cwd));
  record(writer, RECORD.tmp, () => {
    writer.u32(plan.privateTmp.length);
    writer.strings([plan.scopedDir, ...plan.privateTmp, ...plan.sharedInTmp]);
  });
  writeBoundary(writer, plan);
  writeLimits(writer, plan);
  if (plan.banner) record(writer, RECORD.banner, () => writer.raw(Buffer.from(plan.banner)));
  record(writer, RECORD.end, () => undefined);
  return writer.finish();
}
