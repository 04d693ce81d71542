import { NETWORK_ATTACKS, OWN_ADDRESS_ATTACKS } from './attacks/sockets.ts';
import { declareAttacks } from './harness.ts';

declareAttacks('network', [...NETWORK_ATTACKS, ...OWN_ADDRESS_ATTACKS]);
