import { LIMIT_ATTACKS } from './attacks/limits.ts';
import { declareAttacks } from './harness.ts';

declareAttacks('limits', LIMIT_ATTACKS);
