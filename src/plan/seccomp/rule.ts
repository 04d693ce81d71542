import type { SyscallName } from './syscall-numbers.ts';

/** What the kernel is told to do with a call; SECCOMP_RET_* of linux/seccomp.h. */
export const ALLOW = 0x7fff0000;
export const NOTIFY = 0x7fc00000;
export const KILL_PROCESS = 0x80000000;
const RETURN_ERRNO = 0x00050000;

export const EPERM = 1;
export const EACCES = 13;
export const EBUSY = 16;
export const ENOSYS = 38;
export const EPROTONOSUPPORT = 93;
export const EOPNOTSUPP = 95;
export const EAFNOSUPPORT = 97;

/**
 * A test of one argument. All but `non-null` look at the low 32 bits only, and that is what the
 * kernel itself uses of an `int`, so bits set above them hide nothing.
 */
export type Condition =
  | { readonly kind: 'bits'; readonly arg: number; readonly mask: number; readonly isSet: boolean }
  | {
      readonly kind: 'value';
      readonly arg: number;
      readonly mask: number;
      readonly values: readonly number[];
      readonly isMember: boolean;
    }
  | { readonly kind: 'non-null'; readonly arg: number };

/** One line of the filter. Of the rules of a call the first whose conditions all hold decides. */
export interface Rule {
  readonly call: SyscallName;
  readonly verdict: number;
  readonly when: readonly Condition[];
}

/** The mask that leaves an argument as it is. */
export const ALL_BITS = 0xffffffff;

export function hasAny(arg: number, mask: number): Condition {
  return { kind: 'bits', arg, mask, isSet: true };
}

export function hasNone(arg: number, mask: number): Condition {
  return { kind: 'bits', arg, mask, isSet: false };
}

export function isOneOf(arg: number, values: readonly number[], mask = ALL_BITS): Condition {
  return { kind: 'value', arg, mask, values, isMember: true };
}

export function isNoneOf(arg: number, values: readonly number[], mask = ALL_BITS): Condition {
  return { kind: 'value', arg, mask, values, isMember: false };
}

/** For pointers: all 64 bits count. */
export function isNonNull(arg: number): Condition {
  return { kind: 'non-null', arg };
}

export function answer(errno: number): number {
  return RETURN_ERRNO | errno;
}

export function refuse(call: SyscallName, errno: number, ...when: readonly Condition[]): Rule {
  return { call, verdict: answer(errno), when };
}

export function notify(call: SyscallName, ...when: readonly Condition[]): Rule {
  return { call, verdict: NOTIFY, when };
}

export function allow(call: SyscallName, ...when: readonly Condition[]): Rule {
  return { call, verdict: ALLOW, when };
}
