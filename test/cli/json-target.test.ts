import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  lstatSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openJsonTarget } from '../../src/cli/record/json-target.ts';

let dir = '';
beforeEach(() => void (dir = mkdtempSync(join(tmpdir(), 'assay-json-'))));
afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe('a target of --json that is no file', () => {
  it('is written to, and stays what it is: a pipe', async () => {
    const path = join(dir, 'pipe');
    execFileSync('mkfifo', [path]);
    const reader = spawn('cat', [path]);
    let heard = '';
    reader.stdout.on('data', (data: Buffer) => (heard += data.toString()));
    let target;
    // Nobody may be there to read yet.
    for (let tries = 0; !target && tries < 200; tries++) {
      try {
        target = openJsonTarget(path);
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
    target?.write({ a: 1 });
    await once(reader.stdout, 'data');
    reader.kill();
    expect(heard).toBe('{"a":1}\n');
    expect(lstatSync(path).isFIFO()).toBe(true);
  });

  it('is written to, and stays what it is: a device', (context) => {
    if (process.getuid?.() !== 0) context.skip('only root can make a device');
    const path = join(dir, 'null');
    execFileSync('mknod', [path, 'c', '1', '3']);
    openJsonTarget(path).write({ a: 1 });
    expect(lstatSync(path).isCharacterDevice()).toBe(true);
  });

  it('is refused when it is no number, or a descriptor that is for reading only', () => {
    for (const target of ['fd:x', 'fd:-1', 'fd:', 'fd:1.5'])
      expect(() => openJsonTarget(target)).toThrow('the number of a descriptor');
    const fd = openSync('/dev/null', 'r');
    try {
      expect(() => openJsonTarget(`fd:${fd}`)).toThrow('open for reading only');
    } finally {
      closeSync(fd);
    }
    expect(() => openJsonTarget(`fd:${fd}`)).toThrow('EBADF');
  });

  it('is refused when this process has opened it for itself', () => {
    const own = readdirSync('/proc/self/fd').filter((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`).startsWith('anon_inode:[event');
      } catch {
        return false;
      }
    });
    expect(own.length).toBeGreaterThan(0);
    for (const fd of own)
      expect(() => openJsonTarget(`fd:${fd}`)).toThrow('no such descriptor was given');
  });

  it('is refused when it is a directory, or a link to a device', () => {
    const path = join(dir, 'link');
    symlinkSync('/dev/null', path);
    expect(() => openJsonTarget(path)).toThrow('it is a link to something that is no file');
    expect(() => openJsonTarget(dir)).toThrow('it is a directory');
  });
});
