import { readFileSync } from 'node:fs';

/** For what assay itself has open. */
const OWN = 64;
/** Each has one descriptor inside and one outside, and another one while a second address is tried. */
const OF_CONNECTIONS = 0.4;
const OF_QUESTIONS = 0.125;

export interface DescriptorRoom {
  /** Connections through the doors. */
  readonly connections: number;
  /** Connections that ask for names. */
  readonly questions: number;
}

/**
 * What this process may hold open. Where node has no descriptor left it takes a connection and drops it without telling
 * anybody, and the record would not have it: so what comes is counted, and refused before that.
 */
export function readDescriptorRoom(): DescriptorRoom {
  try {
    return countRoom(readFileSync('/proc/self/limits', 'latin1'));
  } catch {
    return countRoom('');
  }
}

/** From the text that the kernel has; without a number in it nothing is known to be in the way. */
export function countRoom(limits: string): DescriptorRoom {
  const [, digits] = /^Max open files +(\d+)/m.exec(limits) ?? [];
  const most = digits === undefined ? Infinity : Number(digits);
  return {
    connections: Math.max(1, Math.floor((most - OWN) * OF_CONNECTIONS)),
    questions: Math.max(1, Math.floor((most - OWN) * OF_QUESTIONS)),
  };
}
