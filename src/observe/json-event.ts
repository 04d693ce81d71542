import { type Event, type Program, UNKNOWN_PROGRAM } from './event.ts';

/** A line of `--json`: an event with the program that did it, or a program. Keys come in a fixed order. */
export function toJsonEvent(
  sighting: Event | Program,
  by: Program | undefined,
): Record<string, unknown> {
  return dropUndefined(
    'kind' in sighting ? describeEvent(sighting, by) : describeProgram(sighting, by),
  );
}

function describeProgram(program: Program, parent: Program | undefined): Record<string, unknown> {
  const { id, image, script, digest, commands, isPredicted } = program;
  return {
    type: 'program',
    id,
    image,
    script,
    digest,
    basis: isPredicted === true ? 'predicted' : undefined,
    parent: nameProgram(program.parent, parent),
    command: commands[0],
  };
}

function describeEvent(event: Event, by: Program | undefined): Record<string, unknown> {
  const type = 'event';
  const { kind } = event;
  switch (kind) {
    case 'file': {
      const { op, path, requested, target, isDirectory, isReplacing } = event;
      const what = { op, path, requested, target, isDirectory, isReplacing };
      return { type, kind, ...what, ...describeAttempt(event, by) };
    }
    case 'exec': {
      const { path, requested } = event;
      return { type, kind, op: 'exec', path, requested, ...describeAttempt(event, by) };
    }
    case 'network': {
      const { op, family, host, port, chosenPort } = event;
      return { type, kind, op, family, host, port, chosenPort, ...describeAttempt(event, by) };
    }
    case 'limit':
      return { type, kind, limit: event.limit };
    default:
      return { type, ...event };
  }
}

function describeAttempt(
  { outcome, basis, decision, program }: Extract<Event, { readonly basis: unknown }>,
  by: Program | undefined,
): Record<string, unknown> {
  return { outcome, basis, decision, program: nameProgram(program, by) };
}

function nameProgram(id: number, program: Program | undefined): Record<string, unknown> {
  if (id === UNKNOWN_PROGRAM) return { image: 'unknown' };
  return dropUndefined({ id, image: program?.image });
}

function dropUndefined(object: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}
