import { GIT_ATTACKS } from './attacks/git.ts';
import { GIT_HOOK_ATTACKS } from './attacks/git-hooks.ts';
import { declareAttacks } from './harness.ts';

declareAttacks('git configuration', [...GIT_HOOK_ATTACKS, ...GIT_ATTACKS]);
