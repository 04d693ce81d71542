import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { probeFacts } from '../../host/probe-facts.ts';
import { helperPath } from '../../launch/helper-path.ts';
import type { Rlimit } from '../../plan/limits.ts';
import { Confinement, type Identity, isRoot, NOBODY } from '../confinement.ts';
import type { Engine } from './engine.ts';

const MIB = 1024 * 1024;
/** For QEMU itself, besides the memory of the guest: translated code, buffers, libraries. */
const OWN_MIB = 1536;
const RLIMIT_STACK = 3;
const RLIMIT_AS = 9;
/** Of each of its threads: up to 64 of them read the disk at a time. Its coroutines have half of it. */
const STACK_BYTES = 2 * MIB;
const OPEN_FILES = 64;
const ROOT = 0;
const OTHERS_EXECUTE = 0o001;
const GROUP_WRITES = 0o060;

/** Root gives up being root, where somebody else can get at the helper and at the device. */
function chooseIdentity(isAccelerated: boolean): Identity | undefined {
  if (!isRoot()) return undefined;
  for (let path = helperPath(); path !== '/'; path = dirname(path))
    if ((statSync(path).mode & OTHERS_EXECUTE) === 0) return undefined;
  if (!isAccelerated) return { uid: NOBODY, gid: NOBODY };
  const { gid, mode } = statSync('/dev/kvm');
  return gid !== ROOT && (mode & GROUP_WRITES) === GROUP_WRITES ? { uid: NOBODY, gid } : undefined;
}

/** The second wall: whoever breaks out of a guest is in a process that this project's own boundary holds. */
export async function confineQemu(engine: Engine, isAccelerated: boolean): Promise<Confinement> {
  return await Confinement.find({
    name: 'microvm',
    title: 'QEMU',
    programs: [dirname(engine.qemu)],
    reads: [engine.guest.directory],
    devices: isAccelerated ? ['/dev/kvm'] : [],
    // Else each of its threads reserves 64 MiB or more of what it may map.
    env: { MALLOC_ARENA_MAX: '1' },
    // QEMU writes no file: what it may write would be in a /tmp of its own.
    limits: { openFiles: OPEN_FILES, diskBytes: MIB },
    host: probeFacts({ helper: helperPath() }).facts,
    identity: chooseIdentity(isAccelerated),
  });
}

export function limitMemory(memoryMib: number): Rlimit[] {
  const bytes = (memoryMib + OWN_MIB) * MIB;
  return [
    { resource: RLIMIT_STACK, soft: STACK_BYTES, hard: STACK_BYTES },
    { resource: RLIMIT_AS, soft: bytes, hard: bytes },
  ];
}
