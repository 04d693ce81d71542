import { LEFTOVER_ATTACKS } from './attacks/limits.ts';
import { declareAttacks } from './harness.ts';

declareAttacks('leftovers', LEFTOVER_ATTACKS);
