import { sha256Hex } from './digest.ts';

/** Stands where a secret was, so that a reader sees that something is left out. */
export const REDACTED = '[redacted]';

/** It, or what stands for a part of a name: see {@link markName} and {@link numberMark}. */
export const REDACTED_PART = /\[redacted(?::(?:[0-9a-f]{16}|\d{1,5}))?\]/;

/**
 * Stands for a part of a name that has the shape of a key. Other names have other marks, so that no two files become
 * one; keys are long enough that nobody finds one by its mark.
 */
export function markName(hidden: string): string {
  return `[redacted:${sha256Hex(`assay redacted name\0${hidden}`).slice(0, 16)}]`;
}

/** The same name with another mark: what is hidden in it is not what was hidden in those before. */
export function numberMark(name: string, number: number): string {
  return name.replace(REDACTED_PART, `[redacted:${number}]`);
}

/** Whether something was taken out of a path: its real name is not known any more. */
export function isRedacted(path: string): boolean {
  return REDACTED_PART.test(path);
}
