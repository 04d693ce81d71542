import type { NeededName, NeededRight, Needs } from '../evidence/needs.ts';

const BITS: Readonly<Record<NeededRight, number>> = { read: 1, write: 3, exec: 5 };

export const READ = 1;
export const WRITE = 3;
export const EXEC = 5;

/** By place, with `${CWD}` or `${HOME}` in front where they apply: what may be done there and below. */
export type Grants = ReadonlyMap<string, number>;

export interface GrantChoice {
  readonly grants: Grants;
  /** New names in directories too broad to grant: by directory and name, what may be done. */
  readonly names: readonly (Omit<NeededName, 'right'> & { readonly rights: number })[];
  /** Moves that no grant worth giving would cover. */
  readonly uncovered: readonly (readonly [string, string])[];
}

/** Whether a directory holds too much to be granted as a whole. */
export type BroadTest = (path: string) => boolean;

/** The fewest places that give what several runs needed. */
export function chooseGrants(runs: readonly Needs[], isBroad: BroadTest): GrantChoice {
  const grants = new Map<string, number>();
  for (const needs of runs)
    for (const right of ['read', 'write', 'exec'] as const)
      for (const path of needs[right]) add(grants, path, BITS[right]);
  dropCovered(grants);
  const uncovered: (readonly [string, string])[] = [];
  const moves = new Map(
    runs.flatMap(({ moves: own }) => own.map((move) => [move.join('\0'), move])),
  );
  for (const move of moves.values()) if (!joinMove(grants, move, isBroad)) uncovered.push(move);
  return { grants, names: joinNames(runs, grants), uncovered };
}

/** The rights that grants at or above a path give. */
export function rightsAt(grants: Grants, path: string): number {
  let rights = 0;
  for (let at = path; at !== ''; at = parentOf(at)) rights |= grants.get(at) ?? 0;
  return rights;
}

function add(grants: Map<string, number>, path: string, bits: number): void {
  grants.set(path, (grants.get(path) ?? 0) | bits);
}

function dropCovered(grants: Map<string, number>): void {
  for (const [path, bits] of grants) {
    const above = rightsAt(grants, parentOf(path));
    if ((above & bits) === bits) grants.delete(path);
  }
}

/**
 * Each grant is a mount of its own inside, and nothing can be moved or linked from one mount to another. So both ends
 * get one grant, with the rights of both.
 */
function joinMove(
  grants: Map<string, number>,
  [from, to]: readonly [string, string],
  isBroad: BroadTest,
): boolean {
  for (let mounts = [mountOf(grants, from), mountOf(grants, to)]; mounts[0] !== mounts[1];) {
    const [one = '', other = ''] = mounts;
    const above = findCommon(one, other);
    if (above === '' || isBroad(above)) return false;
    add(grants, above, (grants.get(one) ?? 0) | (grants.get(other) ?? 0));
    dropCovered(grants);
    mounts = [mountOf(grants, from), mountOf(grants, to)];
  }
  return true;
}

function mountOf(grants: Grants, path: string): string {
  for (let at = path; at !== ''; at = parentOf(at)) if (grants.has(at)) return at;
  return path;
}

/** The lowest directory above both; empty when there is none. */
function findCommon(one: string, other: string): string {
  const others = new Set<string>();
  for (let at = other; at !== ''; at = parentOf(at)) others.add(at);
  for (let at = one; at !== ''; at = parentOf(at)) if (others.has(at)) return at;
  return '';
}

function joinNames(runs: readonly Needs[], grants: Grants): GrantChoice['names'] {
  const joined = new Map<string, GrantChoice['names'][number]>();
  for (const { directory, name, right } of runs.flatMap(({ names }) => names)) {
    if ((rightsAt(grants, directory) & BITS[right]) === BITS[right]) continue;
    const key = `${directory}\0${name}`;
    const rights = (joined.get(key)?.rights ?? 0) | BITS[right];
    joined.set(key, { directory, name, rights });
  }
  return [...joined.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
}

/** `${CWD}` has nothing above it here, since what is above is another matter. */
function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}
