import { constants } from 'node:fs';
import { access, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { confineQemu } from './confinement.ts';
import type { Engine } from './engine.ts';
import { type Accelerator, Machine } from './machine.ts';

export interface AcceleratorChoice {
  readonly accelerator: Accelerator;
  /** Why it is emulation, where it is. */
  readonly reason?: string | undefined;
}

/** A guest that has the processor to itself is up long before; one that is not by then never will be. */
const PATIENCE_MS = 8000;
const TRIAL_MIB = 512;
const BOOT_ID = '/proc/sys/kernel/random/boot_id';

/** Starts a guest: that the device is there says nothing about whether anything runs on it. */
async function tryKvm(engine: Engine): Promise<AcceleratorChoice> {
  let machine: Machine | undefined;
  try {
    const confinement = await confineQemu(engine, true);
    machine = await Machine.start({
      engine,
      accelerator: 'kvm',
      memoryMib: TRIAL_MIB,
      confinement,
    });
    const patience = new AbortController();
    const outcome = await Promise.race([
      machine.link.hello.then(
        () => 'works',
        (error: Error) => error.message,
      ),
      sleep(PATIENCE_MS, `a guest does not start on it within ${PATIENCE_MS / 1000} s`, {
        signal: patience.signal,
      }).catch(() => ''),
    ]);
    patience.abort();
    return outcome === 'works'
      ? { accelerator: 'kvm' }
      : { accelerator: 'tcg', reason: `/dev/kvm is there, but ${outcome}` };
  } catch (error) {
    return { accelerator: 'tcg', reason: `KVM cannot be used: ${String(error)}` };
  } finally {
    await machine?.close();
  }
}

function isChoice(value: unknown, key: string): value is AcceleratorChoice & { key: string } {
  const { key: found, accelerator } = value as { key?: unknown; accelerator?: unknown };
  return found === key && (accelerator === 'kvm' || accelerator === 'tcg');
}

/** What a trial has shown holds until the machine is started anew or something else is tried. */
async function recall(path: string, key: string): Promise<AcceleratorChoice | undefined> {
  try {
    const kept: unknown = JSON.parse(await readFile(path, 'utf8'));
    return isChoice(kept, key) ? kept : undefined;
  } catch {
    return undefined; // never tried, or not in full
  }
}

async function remember(path: string, kept: object): Promise<boolean> {
  try {
    await mkdir(join(path, '..'), { recursive: true });
    await writeFile(path, JSON.stringify(kept), { mode: 0o644 });
    return true;
  } catch {
    return false; // somebody else's directory: then the next place, or the next process tries again
  }
}

/** KVM where a guest truly runs on it, else emulation. */
export async function chooseAccelerator(engine: Engine): Promise<AcceleratorChoice> {
  try {
    await access('/dev/kvm', constants.R_OK | constants.W_OK);
  } catch {
    return { accelerator: 'tcg', reason: '/dev/kvm is not there, or not for this user' };
  }
  const bootId = (await readFile(BOOT_ID, 'utf8')).trim();
  const key = `${bootId} ${engine.version} ${engine.guest.digest}`;
  const paths = engine.stores.map((store) => join(store, 'microvm', 'accelerator.json'));
  for (const path of paths) {
    const kept = await recall(path, key);
    if (kept) return { accelerator: kept.accelerator, reason: kept.reason };
  }
  const choice = await tryKvm(engine);
  for (const path of paths) if (await remember(path, { key, ...choice })) break;
  return choice;
}
