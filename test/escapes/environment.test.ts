import { ENVIRONMENT_ATTACKS } from './attacks/processes.ts';
import { declareAttacks } from './harness.ts';

declareAttacks('environment', ENVIRONMENT_ATTACKS);
