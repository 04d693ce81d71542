import { STEERING_ATTACKS } from './attacks/steering.ts';
import { declareAttacks } from './harness.ts';

declareAttacks('steering', STEERING_ATTACKS);
