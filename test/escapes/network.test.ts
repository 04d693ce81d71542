import { NETWORK_ATTACKS } from './attacks/sockets.ts';
import { declareAttacks } from './harness.ts';

declareAttacks('network', NETWORK_ATTACKS);
