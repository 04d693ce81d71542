import { LINK_ATTACKS } from './attacks/links.ts';
import { declareAttacks } from './harness.ts';

declareAttacks('links that were there before', LINK_ATTACKS);
