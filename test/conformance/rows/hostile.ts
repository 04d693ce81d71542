import type { Row } from '../row.ts';
import { KERNEL_PROGRAMS } from './hostile-kernel.ts';
import { LANGUAGE_PROGRAMS } from './hostile-language.ts';
import { RESOURCE_PROGRAMS } from './hostile-resources.ts';

/** Programs that mean harm: what they take, what they look at, and what languages let them do. */
export const HOSTILE_ROWS: Row[] = [...RESOURCE_PROGRAMS, ...KERNEL_PROGRAMS, ...LANGUAGE_PROGRAMS];
