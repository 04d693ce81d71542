import { IPC_ATTACKS } from './attacks/kernel.ts';
import { declareAttacks } from './harness.ts';

declareAttacks('shared memory and keys', IPC_ATTACKS);
