import type { RunRecord } from '../run-record.ts';

/** Tells which program made a file, for files whose mode is changed later. */
export function makeMakerTest(
  { events }: RunRecord,
  imageOf: (program: number) => string,
): (program: string, path: string) => boolean {
  const changed = new Set<string>();
  for (const event of events)
    if (event.kind === 'file' && event.op === 'chmod') changed.add(event.path);
  const makers = new Set<string>();
  for (const event of events)
    if (event.kind === 'file' && event.op === 'create' && changed.has(event.path))
      if (event.outcome === 'ok') makers.add(`${imageOf(event.program)}\0${event.path}`);
  return (program, path) => makers.has(`${program}\0${path}`);
}
