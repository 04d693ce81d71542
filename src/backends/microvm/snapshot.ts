import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SandboxError } from '../sandbox-error.ts';
import { MachineControl } from './control.ts';
import type { Engine } from './engine.ts';
import { type Accelerator, describeMachine, Machine } from './machine.ts';
import type { Hello } from './messages.ts';

export interface Snapshot {
  /** The file; none where no directory can be written to. Then every machine starts from nothing. */
  readonly path?: string | undefined;
  readonly hello: Hello;
}

export interface SnapshotRequest {
  readonly engine: Engine;
  readonly accelerator: Accelerator;
  readonly memoryMib: number;
}

/** Emulated, with every interpreter run once, on a machine that is busy with other things. */
export const START_PATIENCE_MS = 120_000;
const POLL_MS = 10;
const NAME_DIGITS = 16;

/** A snapshot is good for the very same machine only: the same QEMU, the same guest, the same arguments. */
function nameSnapshot(request: SnapshotRequest): string {
  const { engine } = request;
  const parts = [describeMachine(request), engine.version, engine.guest.digest];
  const key = createHash('sha256').update(JSON.stringify(parts)).digest('hex');
  return `${engine.guest.digest.slice(0, NAME_DIGITS)}-${key.slice(0, NAME_DIGITS)}`;
}

function isOurs({ uid, mode }: { uid: number; mode: number }): boolean {
  return (uid === 0 || uid === process.getuid?.()) && (mode & 0o022) === 0;
}

async function findSnapshot(directory: string, name: string): Promise<Snapshot | undefined> {
  const path = join(directory, `${name}.snapshot`);
  try {
    const text = await readFile(join(directory, `${name}.json`), 'utf8');
    const isGood = isOurs(await stat(path)) && isOurs(await stat(directory));
    return isGood ? { path, hello: JSON.parse(text) as Hello } : undefined;
  } catch {
    return undefined; // not made yet, or not in full
  }
}

/** Waits for the guest's greeting, for as long as a start may take. */
export async function awaitHello(machine: Machine): Promise<Hello> {
  const patience = setTimeout(() => {
    machine.link.lose(
      new SandboxError('start_failed', `The guest did not start within ${START_PATIENCE_MS} ms`),
    );
  }, START_PATIENCE_MS);
  try {
    return await machine.link.hello;
  } finally {
    clearTimeout(patience);
  }
}

function quote(path: string): string {
  return `'${path.replaceAll("'", String.raw`'\''`)}'`;
}

/** Writes down a machine that is up and has not been used. It goes on running meanwhile, so that it will run again. */
async function writeDown(machine: Machine, path: string): Promise<void> {
  if (!machine.control) throw new Error('The machine was not started for a snapshot');
  const control = new MachineControl(machine.control);
  await control.run('qmp_capabilities');
  await control.run('migrate-set-parameters', { 'max-bandwidth': 2 ** 40 });
  await control.run('migrate', { uri: `exec:cat > ${quote(path)}` });
  for (;;) {
    const { status, 'error-desc': why } = (await control.run('query-migrate')) as {
      status?: string;
      'error-desc'?: string;
    };
    if (status === 'completed') return;
    if (status === 'failed' || status === 'cancelled')
      throw new SandboxError('start_failed', `Cannot write a snapshot: ${why ?? status}`);
    await sleep(POLL_MS);
  }
}

/** Snapshots of guests that have since been built anew. */
async function removeOld(directory: string, name: string): Promise<void> {
  const current = name.slice(0, NAME_DIGITS);
  for (const other of await readdir(directory))
    if (!other.startsWith(current)) await rm(join(directory, other), { force: true });
}

async function makeSnapshot(request: SnapshotRequest, directory: string): Promise<Snapshot> {
  const name = nameSnapshot(request);
  const partial = join(directory, `${name}.${randomUUID()}`);
  // Made here, so that it is nobody else's whatever the umask is.
  await (await open(partial, 'wx', 0o644)).close();
  const machine = await Machine.start({ ...request, confinement: undefined });
  try {
    const hello = await awaitHello(machine);
    await writeDown(machine, partial);
    const description = await open(`${partial}.json`, 'wx', 0o644);
    await description.writeFile(JSON.stringify(hello));
    await description.close();
    await rename(partial, join(directory, `${name}.snapshot`));
    await rename(`${partial}.json`, join(directory, `${name}.json`));
    await removeOld(directory, name);
    return { path: join(directory, `${name}.snapshot`), hello };
  } finally {
    await machine.close();
    await rm(partial, { force: true });
    await rm(`${partial}.json`, { force: true });
  }
}

async function canMake(directory: string): Promise<boolean> {
  const trial = join(directory, `.${randomUUID()}`);
  try {
    await mkdir(directory, { recursive: true });
    await (await open(trial, 'wx')).close();
    await rm(trial);
    return true;
  } catch {
    return false; // somebody else's directory
  }
}

/** The snapshot that machines of this kind start from, which is made where there is none. */
export async function provideSnapshot(request: SnapshotRequest): Promise<Snapshot> {
  const directories = request.engine.stores.map((store) => join(store, 'microvm', 'snapshots'));
  const name = nameSnapshot(request);
  for (const directory of directories) {
    const found = await findSnapshot(directory, name);
    if (found) return found;
  }
  for (const directory of directories)
    if (await canMake(directory)) return await makeSnapshot(request, directory);
  const machine = await Machine.start({ ...request, confinement: undefined });
  try {
    return { hello: await awaitHello(machine) };
  } finally {
    await machine.close();
  }
}
