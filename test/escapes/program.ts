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

/** The program that has no C library. */
export const findStill = (): string => join(inject('attackPrograms'), 'still');
