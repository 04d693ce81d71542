import { READ_ATTACKS } from './attacks/reads.ts';
import { declareAttacks } from './harness.ts';

declareAttacks('file reads', READ_ATTACKS);
