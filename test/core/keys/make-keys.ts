import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/** Tools that tests need and this machine lacks, in words; undefined when all are there. */
export function findMissing(...tools: readonly string[]): string | undefined {
  const missing = tools.filter((tool) => spawnSync('which', [tool]).status !== 0);
  return missing.length > 0 ? `${missing.join(' and ')} not installed` : undefined;
}

/** A directory that goes when the tests of the file are done. */
export function makePlace(): string {
  const place = mkdtempSync(join(tmpdir(), 'assay-signing-'));
  afterAll(() => rmSync(place, { recursive: true, force: true }));
  return place;
}

export function runTool(command: string, ...args: readonly string[]): Buffer {
  const { status, stdout, stderr } = spawnSync(command, args);
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`);
  return stdout;
}

export interface MadeKey {
  readonly file: string;
  readonly privateText: string;
  readonly publicFile: string;
  readonly publicText: string;
}

/** With openssl: NAME and NAME.pub, PEM. */
export function makePemKey(place: string, name: string): MadeKey {
  const file = join(place, name);
  runTool('openssl', 'genpkey', '-algorithm', 'ed25519', '-out', file);
  runTool('openssl', 'pkey', '-in', file, '-pubout', '-out', `${file}.pub`);
  return readBoth(file);
}

/** With ssh-keygen: NAME and NAME.pub, in the formats of OpenSSH. */
export function makeSshKey(place: string, name: string, ...args: readonly string[]): MadeKey {
  const file = join(place, name);
  const options = args.length > 0 ? args : ['-t', 'ed25519', '-N', ''];
  const line = ['ssh-keygen', '-q', '-C', `${name}@example`, '-f', file, ...options];
  // It works for nobody whom the user database does not know; in a namespace of their own they are root.
  if (isUserKnown()) runTool('env', ...line);
  else runTool('unshare', '--map-root-user', ...line);
  return readBoth(file);
}

function isUserKnown(): boolean {
  return spawnSync('getent', ['passwd', String(process.getuid?.())]).status === 0;
}

function readBoth(file: string): MadeKey {
  const publicFile = `${file}.pub`;
  return {
    file,
    publicFile,
    privateText: readFileSync(file, 'utf8'),
    publicText: readFileSync(publicFile, 'utf8'),
  };
}
