import type { Attack } from './attack.ts';
import { FILE_ATTACKS } from './file-attacks.ts';
import { KERNEL_ATTACKS } from './kernel-attacks.ts';
import { LIMIT_ATTACKS } from './limit-attacks.ts';
import { NETWORK_ATTACKS } from './network-attacks.ts';
import { PROCESS_ATTACKS } from './process-attacks.ts';

export const ATTACKS: readonly Attack[] = [
  ...FILE_ATTACKS,
  ...PROCESS_ATTACKS,
  ...NETWORK_ATTACKS,
  ...KERNEL_ATTACKS,
  ...LIMIT_ATTACKS,
];
