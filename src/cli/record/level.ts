import type { ObserveLevel } from '../../observe/event.ts';
import type { FlagValues } from '../flag-values.ts';

/** What is written down of a run: what was asked for, else as much as whoever gets the record can use. */
export function chooseLevel(flags: FlagValues): ObserveLevel {
  const asked = flags.text('observe') as ObserveLevel | undefined;
  if (asked !== undefined) return asked;
  if (['profile', 'bundle', 'dry-run'].some((name) => flags.has(name))) return 'all';
  return flags.has('json') || flags.has('progress') ? 'effects' : 'none';
}

/** Whether anybody gets the record; most runs need none of its code. */
export function isRecordWanted(flags: FlagValues): boolean {
  return ['profile', 'bundle', 'dry-run', 'json', 'progress'].some((name) => flags.has(name));
}
