import { PROCESS_ATTACKS } from './attacks/processes.ts';
import { declareAttacks } from './harness.ts';

declareAttacks('other processes', PROCESS_ATTACKS);
