import { SYSCALL_ATTACKS } from './attacks/kernel.ts';
import { declareAttacks } from './harness.ts';

declareAttacks('system calls', SYSCALL_ATTACKS);
