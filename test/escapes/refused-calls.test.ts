import { PROCESS_ATTACKS } from './attacks/processes.ts';
import { UNIX_ATTACKS } from './attacks/sockets.ts';
import { ATTRIBUTE_ATTACKS, WRITE_ATTACKS } from './attacks/writes.ts';
import { declareAttacks } from './harness.ts';
import { findRefusedAssay } from './program.ts';

/** On what the broker does in another way there: descriptors that it opens anew, and sockets that it replaces. */
const CONCERNED = new Set([
  'unix-stream',
  'unix-scm-rights',
  'race-bind-swap',
  'race-connect-string',
  'attr-fchmod',
  'write-reopen',
  'write-dirfd',
  'proc-mem-again-unguarded',
  'proc-fd-memory-spun-unguarded',
]);

declareAttacks(
  'where calls of the broker are refused',
  [...UNIX_ATTACKS, ...ATTRIBUTE_ATTACKS, ...WRITE_ATTACKS, ...PROCESS_ATTACKS]
    .filter(({ id }) => CONCERNED.has(id))
    .map((attack) => ({ ...attack, control: [], assay: findRefusedAssay })),
);
