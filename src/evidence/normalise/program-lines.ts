import type { Program } from '../../observe/event.ts';
import type { ExecEvent } from '../../observe/event.ts';
import type { RunRecord } from '../run-record.ts';
import type { Births } from './births.ts';
import type { CanonicalLine } from './canonical-line.ts';
import { MASK } from './masks.ts';
import type { Names } from './names.ts';
import { MEMORY_FORM, NAMELESS_FORM } from './special-paths.ts';
import { splitPath } from './split-path.ts';

const OWN_PLACE = /^\$\{(?:CWD|HOME|TMPDIR)\}/;
const NOT_FOUND: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'EACCES']);

/** Who ran what, as an edge from image to image. */
export function* makeProgramLines(
  { programs }: RunRecord,
  names: Names,
  births: Births,
  imageOf: (program: number) => string,
): Iterable<CanonicalLine> {
  for (const program of programs) {
    const path = names.pathOf(program.image);
    yield {
      op: 'run',
      path,
      target: program.script === undefined ? undefined : names.pathOf(program.script),
      outcome: 'ok',
      program: imageOf(program.parent),
      digest: isTelling(program, path, births, names) ? program.digest : undefined,
      atMs: program.atMs,
      basis: program.isPredicted === true ? 'predicted' : 'observed',
    };
  }
}

/**
 * Images of the system change with every update of the machine, which is not behaviour. What the run itself has built
 * may hold its directory or the time, and is known by its name; but a name that is masked needs something instead.
 */
function isTelling({ image }: Program, path: string, births: Births, names: Names): boolean {
  if (path === MEMORY_FORM || path.endsWith(`/${NAMELESS_FORM}`)) return true;
  if (!births.isBorn(image)) return OWN_PLACE.test(path);
  const { name } = splitPath(path);
  return name.includes(MASK) && !isNamedInStore(name, names.masked.get(image));
}

/** `parser-<*>`, where a store has put a digest behind the name. */
function isNamedInStore(name: string, rules: readonly string[] | undefined): boolean {
  return /^\w+-<\*>/.test(name) && rules?.every((rule) => rule === 'store') === true;
}

/** Failed tries along a search path, of what was then found and executed. */
export function makeSearchTest(
  { events }: RunRecord,
  imageOf: (program: number) => string,
): (event: ExecEvent) => boolean {
  const keyOf = ({ path, requested = path, program }: ExecEvent): string =>
    `${imageOf(program)}\0${splitPath(requested).name}`;
  const found = new Set<string>();
  for (const event of events)
    if (event.kind === 'exec' && event.outcome === 'ok') found.add(keyOf(event));
  return (event) =>
    NOT_FOUND.has(event.outcome) && event.decision === undefined && found.has(keyOf(event));
}
