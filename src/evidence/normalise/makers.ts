import type { RunRecord } from '../run-record.ts';

export const FILES: ReadonlySet<string> = new Set(['create', 'mkdir']);
export const LINKS: ReadonlySet<string> = new Set(['symlink']);

/** Tells whether an image has made something itself, by one of the operations, also where it has then moved it to. */
export function makeMakerTest(
  { events }: RunRecord,
  imageOf: (program: number) => string,
  making: ReadonlySet<string>,
): (image: string, path: string) => boolean {
  const makers = new Set<string>();
  const keyOf = (program: number, path: string): string => `${imageOf(program)}\0${path}`;
  for (const event of events)
    if (event.kind === 'file' && event.outcome === 'ok' && making.has(event.op))
      makers.add(keyOf(event.program, event.path));
  const moved: string[] = [];
  for (const event of events)
    if (event.kind === 'file' && event.outcome === 'ok' && event.op === 'rename')
      if (event.target !== undefined && makers.has(keyOf(event.program, event.path)))
        moved.push(keyOf(event.program, event.target));
  for (const key of moved) makers.add(key);
  return (image, path) => makers.has(`${image}\0${path}`);
}
