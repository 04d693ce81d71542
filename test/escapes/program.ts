import { join } from 'node:path';

import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** A directory that anybody can read; see programs-setup.ts. */
    readonly attackPrograms: string;
  }
}

/** All attacks that are written in C. */
export const findAttack = (): string => join(inject('attackPrograms'), 'attack');

/** assay in a place where calls of the broker are refused. */
export const findRefusedAssay = (): string => join(inject('attackPrograms'), 'refused-assay');

/** The program that has no C library. */
export const findStill = (): string => join(inject('attackPrograms'), 'still');
