import type { Arch } from '../../host/facts.ts';
import type { BrokeredCalls } from './filter-request.ts';
import {
  answer,
  EBUSY,
  EPERM,
  hasAny,
  hasNone,
  isNoneOf,
  isNonNull,
  isOneOf,
  notify,
  refuse,
  type Rule,
} from './rule.ts';
import type { SyscallName } from './syscall-numbers.ts';

/** O_WRONLY, O_RDWR, O_CREAT, O_TRUNC, __O_TMPFILE: the same on both architectures. */
const OPEN_EFFECTS = 0x400243;
const O_PATH = 0x200000;
const AT_FDCWD = 0xffffff9c;
const CLONE_THREAD = 0x10000;
const SECCOMP_SET_MODE_FILTER = 1;
const SECCOMP_FILTER_FLAG_NEW_LISTENER = 8;
const PR_SET_DUMPABLE = 4;
const ARCH_SET_FS = 0x1002;
/** F_OFD_SETLK, F_OFD_SETLKW and F_SETLEASE. */
const LOCKS_OF_OPEN_FILES = [37, 38, 1024];
/**
 * MSG_NOSIGNAL and MSG_PROBE: a datagram with the latter is not sent, so there is nothing to see. By exactly these flags the
 * helper sends what it needs to see the rest.
 */
const LISTENER_FLAGS = 0x4010;
const IPPROTO_UDP = 17;
const UDP_CORK = 1;
/** A datagram that waits would go where one had named that was not sent. */
const NO_CORK = refuse('setsockopt', EPERM, isOneOf(1, [IPPROTO_UDP]), isOneOf(2, [UDP_CORK]));

const MUTATIONS: readonly SyscallName[] = [
  'mkdir',
  'mkdirat',
  'rmdir',
  'unlink',
  'unlinkat',
  'rename',
  'renameat',
  'renameat2',
  'link',
  'linkat',
  'symlink',
  'symlinkat',
  'mknod',
  'mknodat',
  'truncate',
];

/** Landlock has no right for any of these; those on a descriptor work on one that only reads. */
export const ATTRIBUTE_CHANGES: readonly SyscallName[] = [
  'chmod',
  'fchmod',
  'fchmodat',
  'fchmodat2',
  'chown',
  'fchown',
  'lchown',
  'fchownat',
  'utime',
  'utimes',
  'futimesat',
  'utimensat',
  'setxattr',
  'lsetxattr',
  'fsetxattr',
  'setxattrat',
  'removexattr',
  'lremovexattr',
  'fremovexattr',
  'removexattrat',
  'file_setattr',
];

export function makeBrokerRules(calls: BrokeredCalls, arch: Arch): Rule[] {
  const names: SyscallName[] = [];
  if (calls.mutations) names.push(...MUTATIONS);
  if (calls.attributes) names.push(...ATTRIBUTE_CHANGES);
  if (calls.connect) names.push('connect', 'bind');
  // To listen on a socket that has no port takes one, which a record has as well.
  if (calls.listen === true || (calls.start === true && calls.connect)) names.push('listen');
  if (calls.exec) names.push('execve', 'execveat');
  if (calls.fork) names.push('fork', 'vfork');
  if (calls.umask) names.push('umask');

  const rules = [...BROKER_GUARDS, ...makeOpenRules(calls.opens)];
  // A lock on an open file lasts as long as the broker has a copy of it, which then is to be gone.
  if (calls.opens === 'all' || calls.start === true)
    rules.push(notify('flock'), notify('fcntl', isOneOf(1, LOCKS_OF_OPEN_FILES)));
  for (const name of names) rules.push(notify(name));
  // A program without a C library may make no other call before it ends; nor may one whose exec has failed.
  if (calls.start === true) rules.push(notify('exit'), notify('exit_group'));
  // On x86-64 the C library sets its thread pointer by a call, once; elsewhere it has none to make for that.
  if (calls.start === true)
    rules.push(
      arch === 'x64' ? notify('arch_prctl', isOneOf(0, [ARCH_SET_FS])) : notify('set_tid_address'),
    );
  if (calls.fork) rules.push(notify('clone', hasNone(0, CLONE_THREAD)));
  // Datagrams name where they go without a connection. That of the last two is out of the filter's sight.
  if (calls.start === true && calls.connect)
    rules.push(
      notify('sendto', isNonNull(4)),
      notify('sendmsg', isNoneOf(2, [LISTENER_FLAGS])),
      notify('sendmmsg'),
      NO_CORK,
    );
  return rules;
}

const BROKER_GUARDS: readonly Rule[] = [
  // The newest of two listeners answers, and could wave the call through past the broker. The kernel
  // says EBUSY to a second listener too; filters that only refuse may be added at will.
  refuse(
    'seccomp',
    EBUSY,
    isOneOf(0, [SECCOMP_SET_MODE_FILTER]),
    hasAny(1, SECCOMP_FILTER_FLAG_NEW_LISTENER),
  ),
  // The broker could not read the paths of such a process any more, and would have to refuse all it
  // does. Key agents insist on success; what they fear, ptrace and core dumps, is off anyway.
  { call: 'prctl', verdict: answer(0), when: [isOneOf(0, [PR_SET_DUMPABLE]), isOneOf(1, [0])] },
];

function makeOpenRules(opens: BrokeredCalls['opens']): Rule[] {
  if (opens === 'none') return [];
  const rules = [notify('creat'), notify('openat2')];
  if (opens === 'effects') {
    rules.push(notify('open', hasNone(1, O_PATH), hasAny(1, OPEN_EFFECTS)));
  } else {
    rules.push(notify('open', hasNone(1, O_PATH)));
  }
  if (opens === 'all') {
    rules.push(notify('openat', hasNone(2, O_PATH)));
  } else {
    rules.push(notify('openat', hasNone(2, O_PATH), hasAny(2, OPEN_EFFECTS)));
  }
  if (opens === 'probe') {
    rules.push(notify('openat', hasNone(2, O_PATH), isOneOf(0, [AT_FDCWD])));
  }
  return rules;
}
