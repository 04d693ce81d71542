import { BROKERED_NETWORK_ATTACKS } from './attacks/sockets.ts';
import { declareAttacks } from './harness.ts';

declareAttacks('network by the broker', BROKERED_NETWORK_ATTACKS);
