import { realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { guessFacts } from '../../host/guess-facts.ts';
import { distPath, helperPath } from '../../launch/helper-path.ts';
import { Confinement, isOpenToOthers, isRoot, NOBODY } from '../confinement.ts';
import type { Engines } from './engines.ts';

const MIB = 1024 * 1024;
/** For the threads of many programs at a time. */
const OPEN_FILES = 1024;

export const CELL_FILE = 'wasm-cell.cjs';
export const GUEST_FILE = 'wasm-guest.js';

export type CellWall =
  | { readonly confinement: Confinement; readonly gaps: readonly string[] }
  | { readonly confinement: undefined; readonly gaps: readonly string[] };

/**
 * The second wall: whoever breaks out of an engine is in a process that this project's own boundary holds, which sees
 * node, the engines and nothing else. The first wall stands without it; what is missing of it is said.
 */
export async function confineCell(engines: Engines): Promise<CellWall> {
  const reads = [
    distPath(CELL_FILE),
    distPath(GUEST_FILE),
    ...Object.values(engines).flatMap((engine) => (engine ? [engine.path] : [])),
  ].map((path) => realpathSync(path));
  try {
    const node = realpathSync(process.execPath);
    const canLeaveRoot = isRoot() && isOpenToOthers([...reads, node, helperPath()]);
    const confinement = await Confinement.find({
      name: 'wasm',
      title: 'The process of the engines',
      programs: [dirname(node)],
      reads,
      // It writes no file: what it may write would be in a /tmp of its own.
      limits: { openFiles: OPEN_FILES, diskBytes: MIB },
      host: guessFacts(),
      identity: canLeaveRoot ? { uid: NOBODY, gid: NOBODY } : undefined,
    });
    return { confinement, gaps: confinement.gaps };
  } catch (error) {
    const why = (error as Error).message;
    return {
      confinement: undefined,
      gaps: [`The process of the engines is held by nothing but itself: ${why}`],
    };
  }
}
