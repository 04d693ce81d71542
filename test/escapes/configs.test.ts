import { CONFIG_ATTACKS } from './attacks/configs.ts';
import { declareAttacks } from './harness.ts';

declareAttacks('configuration', CONFIG_ATTACKS);
