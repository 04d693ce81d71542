import type { Row } from '../row.ts';
import { EVIDENCE_ROWS } from './evidence.ts';
import { FILE_ROWS } from './files.ts';
import { HOSTILE_ROWS } from './hostile.ts';
import { LIFETIME_ROWS } from './lifetime.ts';
import { LIMIT_ROWS } from './limits.ts';
import { NETWORK_ROWS } from './network.ts';
import { REFUSAL_ROWS } from './refusals.ts';
import { STATE_ROWS } from './state.ts';
import { STREAM_ROWS } from './streams.ts';
import { TIMEOUT_ROWS } from './timeouts.ts';

export const ALL_ROWS: readonly Row[] = [
  ...FILE_ROWS,
  ...NETWORK_ROWS,
  ...TIMEOUT_ROWS,
  ...LIMIT_ROWS,
  ...STREAM_ROWS,
  ...STATE_ROWS,
  ...REFUSAL_ROWS,
  ...EVIDENCE_ROWS,
  ...HOSTILE_ROWS,
  ...LIFETIME_ROWS,
];
