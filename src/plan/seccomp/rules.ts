import { ATTRIBUTE_CHANGES, makeBrokerRules } from './broker-rules.ts';
import type { FilterRequest } from './filter-request.ts';
import { IOCTL_RULES } from './ioctl-rules.ts';
import { REFUSALS } from './refusals.ts';
import { ENOSYS, EOPNOTSUPP, EPERM, refuse, type Rule } from './rule.ts';
import { FAST_OPEN_RULES, makeSocketRules } from './socket-rules.ts';
import type { SyscallName } from './syscall-numbers.ts';

const LANDLOCK: readonly SyscallName[] = [
  'landlock_create_ruleset',
  'landlock_add_rule',
  'landlock_restrict_self',
];

/** By identifier, and not only by key, so the calls that use an identifier are refused as well. */
const SHARED_IPC: readonly SyscallName[] = [
  'shmget',
  'shmat',
  'shmctl',
  'msgget',
  'msgsnd',
  'msgrcv',
  'msgctl',
  'semget',
  'semop',
  'semtimedop',
  'semctl',
  'mq_open',
  'mq_unlink',
];

/** What acts without a call of its own that could be watched. Programs go on without. */
const UNSEEN_WAYS: readonly Rule[] = [
  ...(['io_uring_setup', 'io_uring_enter', 'io_uring_register', 'clone3'] as const).map((call) =>
    refuse(call, ENOSYS),
  ),
  ...FAST_OPEN_RULES,
];

/** Everything the filter does, in order: refusals come before what is handed to the broker. */
export function makeRules(request: FilterRequest): Rule[] {
  if (request.isObserveOnly === true)
    return [
      ...UNSEEN_WAYS,
      ...(request.notify === null ? [] : makeBrokerRules(request.notify, request.arch)),
    ];
  const rules = [
    ...REFUSALS,
    ...IOCTL_RULES,
    ...makeSocketRules(request.sockets, request.notify?.start === true),
  ];
  if (request.isAttributeChangeRefused) pushRefusals(rules, ATTRIBUTE_CHANGES, EPERM);
  // What a kernel says whose Landlock is switched off: programs go on without.
  if (request.isLandlockRefused) pushRefusals(rules, LANDLOCK, EOPNOTSUPP);
  // What a kernel says that was built without System V IPC.
  if (request.isIpcRefused === true) pushRefusals(rules, SHARED_IPC, ENOSYS);
  if (request.notify !== null) rules.push(...makeBrokerRules(request.notify, request.arch));
  return rules;
}

function pushRefusals(rules: Rule[], calls: readonly SyscallName[], errno: number): void {
  for (const call of calls) rules.push(refuse(call, errno));
}
