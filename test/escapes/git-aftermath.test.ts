import { GIT_AFTERMATH_ATTACKS } from './attacks/git-aftermath.ts';
import { declareAttacks } from './harness.ts';

declareAttacks('git programs left behind', GIT_AFTERMATH_ATTACKS);
