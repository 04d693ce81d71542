import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, readFile, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { listEnginesDirs } from '../engines-dir.ts';

/** What `npm run engines` has made of the packages: scripts/engines/microvm.sh. */
export interface Guest {
  readonly directory: string;
  /** Such as `linux-image-6.1.0-54-cloud-amd64 6.1.190-1`. */
  readonly kernel: string;
  readonly vmlinux: string;
  readonly initrd: string;
  readonly root: string;
  /** How fast the time stamp counter of this machine counts. */
  readonly tscKhz: number;
  /** One digest for all of it. */
  readonly digest: string;
  /** Of the description that it was found by. */
  readonly stamp: string;
}

export interface Engine {
  readonly qemu: string;
  /** As it says itself, such as `7.2.22 (Debian 1:7.2+dfsg-7)`. */
  readonly version: string;
  readonly guest: Guest;
  /** Where snapshots are looked for, and the first in which one can be made. */
  readonly stores: readonly string[];
}

export type FoundEngine =
  | { readonly engine: Engine; readonly missing?: undefined }
  | { readonly engine?: undefined; readonly missing: readonly string[] };

export interface EngineOptions {
  readonly env?: NodeJS.ProcessEnv | undefined;
}

const ROOT = 0;
const DIRECTORY_DIGITS = 16;

async function canRead(path: string): Promise<boolean> {
  return await access(path, constants.R_OK).then(
    () => true,
    () => false,
  );
}

/** Only what root or this user has made is run as a guest: others could put anything into it. */
async function isTrusted(path: string): Promise<boolean> {
  const { uid, mode } = await stat(path);
  return (uid === ROOT || uid === process.getuid?.()) && (mode & 0o022) === 0;
}

interface Description {
  readonly kernel: string;
  readonly madeOf: string;
  readonly tscKhz: number;
}

function isDescription(value: unknown): value is Description {
  const { kernel, madeOf, tscKhz } = value as Partial<Description>;
  return (
    typeof kernel === 'string' &&
    typeof madeOf === 'string' &&
    /^[0-9a-f]{64}$/.test(madeOf) &&
    Number.isSafeInteger(tscKhz)
  );
}

/** Changes when the guest is built anew, however soon after. */
async function readStamp(path: string): Promise<string> {
  const { mtimeMs, ino, size } = await stat(path);
  return `${path} ${mtimeMs} ${ino} ${size}`;
}

async function readGuest(store: string): Promise<Guest | string> {
  const top = join(store, 'microvm');
  const path = join(top, 'guest.json');
  if (!(await canRead(path))) return `there is no guest in ${top}`;
  const stamp = await readStamp(path);
  const described: unknown = JSON.parse(await readFile(path, 'utf8'));
  if (!isDescription(described)) return `${path} is damaged or of another version`;
  const { kernel, madeOf: digest, tscKhz } = described;
  const directory = join(top, digest.slice(0, DIRECTORY_DIGITS));
  const files = ['vmlinux', 'initrd', 'root.erofs'].map((name) => join(directory, name));
  for (const part of [top, path, directory, ...files]) {
    if (!(await canRead(part))) return `cannot read ${part}`;
    if (!(await isTrusted(part))) return `${part} can be changed by other users`;
  }
  const [vmlinux = '', initrd = '', root = ''] = files;
  return { directory, kernel, vmlinux, initrd, root, tscKhz, digest, stamp };
}

/** Whether the guest is still the one that was found. */
export async function isCurrent({ guest }: Engine): Promise<boolean> {
  const [path = ''] = guest.stamp.split(' ');
  return (await readStamp(path).catch(() => '')) === guest.stamp;
}

async function findProgram(name: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  for (const directory of (env['PATH'] ?? '').split(delimiter)) {
    const path = join(directory, name);
    // A relative directory would be one of whoever asks for the sandbox.
    if (directory.startsWith('/') && (await canRead(path))) return path;
  }
  return undefined;
}

async function readVersion(qemu: string): Promise<string> {
  const { stdout } = await promisify(execFile)(qemu, ['--version'], { timeout: 10_000 });
  return /version (.+)/.exec(stdout)?.[1] ?? 'unknown';
}

/** What there is to run a machine with, or what is missing. Starts nothing but `qemu --version`. */
export async function findEngine({ env = process.env }: EngineOptions): Promise<FoundEngine> {
  if (process.arch !== 'x64')
    return { missing: [`the guest is for x86-64 only, and this is ${process.arch}`] };
  const missing: string[] = [];
  const qemu = await findProgram('qemu-system-x86_64', env);
  if (!qemu) missing.push('qemu-system-x86_64 is not installed');
  const stores = listEnginesDirs(env);
  let guest: Guest | undefined;
  const without: string[] = [];
  for (const store of stores) {
    const found = await readGuest(store);
    if (typeof found === 'string') without.push(found);
    else guest ??= found;
  }
  if (!guest) missing.push(...without);
  if (!qemu || !guest) return { missing };
  return { engine: { qemu, version: await readVersion(qemu), guest, stores } };
}
