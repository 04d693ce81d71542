import { GIT_ATTACKS } from './attacks/git.ts';
import { declareAttacks } from './harness.ts';

declareAttacks('git configuration', GIT_ATTACKS);
