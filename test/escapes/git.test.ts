import { GIT_ATTACKS } from './attacks/configs.ts';
import { declareAttacks } from './harness.ts';

declareAttacks('git configuration', GIT_ATTACKS);
