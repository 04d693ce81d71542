import { UNIX_ATTACKS } from './attacks/sockets.ts';
import { declareAttacks } from './harness.ts';

declareAttacks('unix sockets', UNIX_ATTACKS);
