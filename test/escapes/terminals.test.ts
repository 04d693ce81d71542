import { TERMINAL_ATTACKS } from './attacks/processes.ts';
import { declareAttacks } from './harness.ts';

declareAttacks('terminals', TERMINAL_ATTACKS);
