import { hostileMs } from '../expectations.ts';
import type { ProgramRow } from '../row.ts';

export const MIB = 1024 * 1024;

/** In a sandbox of its own, with every limit that the backend has and that is not the point left as it is. */
export const bomb = (
  row: Pick<ProgramRow, 'name' | 'code' | 'check'> & Partial<ProgramRow>,
): ProgramRow => ({
  group: 'hostile',
  language: 'python',
  isAlone: true,
  seconds: 60,
  options: (kit) => ({ limits: { wallMs: hostileMs(kit) } }),
  ...row,
});

/** For what ends by itself, however busy the machine is. */
export const ENDING = { limits: { wallMs: 30_000 } };
