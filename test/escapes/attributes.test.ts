import { ATTRIBUTE_ATTACKS } from './attacks/writes.ts';
import { declareAttacks } from './harness.ts';

declareAttacks('attributes', ATTRIBUTE_ATTACKS);
