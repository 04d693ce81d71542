import { WRITE_ATTACKS } from './attacks/writes.ts';
import { declareAttacks } from './harness.ts';

declareAttacks('file writes', WRITE_ATTACKS);
