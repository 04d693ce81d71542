import { PRIVILEGE_ATTACKS } from './attacks/kernel.ts';
import { declareAttacks } from './harness.ts';

declareAttacks('privileges', PRIVILEGE_ATTACKS);
