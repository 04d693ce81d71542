import { DENY_ATTACKS } from './attacks/reads.ts';
import { declareAttacks } from './harness.ts';

declareAttacks('deny inside allow', DENY_ATTACKS);
