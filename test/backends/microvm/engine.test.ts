import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { findEngine, isCurrent } from '../../../src/backends/microvm/engine.ts';

const DIGEST = '0123456789abcdef'.repeat(4);

describe.skipIf(process.arch !== 'x64')('findEngine()', () => {
  let top: string;
  let store: string;
  const find = async (): ReturnType<typeof findEngine> =>
    await findEngine({ env: { PATH: `${top}/bin`, ASSAY_ENGINES_DIR: top } });

  const describeGuest = (changes: object = {}): void => {
    const guest = { madeOf: DIGEST, kernel: 'linux 6.1', tscKhz: 2_000_000, ...changes };
    fs.writeFileSync(join(store, 'guest.json'), JSON.stringify(guest), { mode: 0o644 });
  };

  beforeEach(() => {
    top = fs.mkdtempSync(join(tmpdir(), 'assay-engine-'));
    store = join(top, 'microvm');
    const guest = join(store, DIGEST.slice(0, 16));
    fs.mkdirSync(guest, { recursive: true, mode: 0o755 });
    for (const name of ['vmlinux', 'initrd', 'root.erofs'])
      fs.writeFileSync(join(guest, name), name, { mode: 0o644 });
    describeGuest();
    fs.mkdirSync(join(top, 'bin'));
    const qemu = '#!/bin/sh\necho QEMU emulator version 9.9.9 "(Test)"\n';
    fs.writeFileSync(join(top, 'bin/qemu-system-x86_64'), qemu, { mode: 0o755 });
  });
  afterEach(() => fs.rmSync(top, { recursive: true }));

  it('finds QEMU and the guest', async () => {
    const { engine } = await find();
    expect(engine).toMatchObject({ version: '9.9.9 (Test)', stores: [top] });
    expect(engine?.guest).toMatchObject({ kernel: 'linux 6.1', tscKhz: 2_000_000, digest: DIGEST });
  });

  it('says everything that is missing', async () => {
    fs.rmSync(join(top, 'bin/qemu-system-x86_64'));
    fs.rmSync(join(store, 'guest.json'));
    expect((await find()).missing).toEqual([
      'qemu-system-x86_64 is not installed',
      `there is no guest in ${store}`,
    ]);
  });

  it.each(['guest.json', `${DIGEST.slice(0, 16)}/root.erofs`, DIGEST.slice(0, 16), ''])(
    'does not use what others can change: microvm/%s',
    async (path) => {
      fs.chmodSync(join(store, path), 0o777);
      expect((await find()).missing?.join()).toContain('can be changed by other users');
    },
  );

  it.each([{ madeOf: '../../etc' }, { madeOf: undefined }, { tscKhz: undefined }, { kernel: 1 }])(
    'does not use a description that it cannot read: %j',
    async (changes) => {
      describeGuest(changes);
      expect((await find()).missing?.join()).toContain('damaged or of another version');
    },
  );

  it('takes no program from a directory that is relative', async () => {
    const env = { PATH: 'bin:.', ASSAY_ENGINES_DIR: top };
    expect((await findEngine({ env })).missing).toEqual(['qemu-system-x86_64 is not installed']);
  });

  it('sees when the guest was built anew or is gone', async () => {
    const { engine } = await find();
    if (!engine) return expect.unreachable();
    expect(await isCurrent(engine)).toBe(true);
    fs.writeFileSync(join(store, 'new'), fs.readFileSync(join(store, 'guest.json')));
    fs.renameSync(join(store, 'new'), join(store, 'guest.json'));
    expect(await isCurrent(engine)).toBe(false);
    fs.rmSync(join(store, 'guest.json'));
    expect(await isCurrent(engine)).toBe(false);
  });
});
