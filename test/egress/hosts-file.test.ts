import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HostsFile } from '../../src/egress/hosts-file.ts';

let dir: string;
beforeEach(() => (dir = mkdtempSync(join(tmpdir(), 'hosts-'))));
afterEach(() => rmSync(dir, { recursive: true }));

describe('HostsFile', () => {
  it('finds names and aliases, whatever their case, in the order of the file', async () => {
    const path = join(dir, 'hosts');
    const text =
      '# 1.1.1.1 no\n127.0.0.1 localhost\n 10.0.0.1\tDB.example db # a.b\n\n::2 db.example\n';
    writeFileSync(path, text);
    const hosts = new HostsFile(path);
    expect(await hosts.find('db.example')).toEqual(['10.0.0.1', '::2']);
    expect(await hosts.find('db')).toEqual(['10.0.0.1']);
    expect(await hosts.find('no')).toEqual([]);
    expect(await hosts.find('a.b')).toEqual([]);
  });

  it('sees changes, and that there is none', async () => {
    const path = join(dir, 'hosts');
    const hosts = new HostsFile(path);
    expect(await hosts.find('a')).toEqual([]);
    writeFileSync(path, '10.0.0.1 a\n');
    expect(await hosts.find('a')).toEqual(['10.0.0.1']);
    writeFileSync(path, '10.0.0.22 a\n');
    expect(await hosts.find('a')).toEqual(['10.0.0.22']);
    rmSync(path);
    expect(await hosts.find('a')).toEqual([]);
  });
});
