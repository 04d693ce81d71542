import { spawnSync } from 'node:child_process';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { LANGUAGES } from '../../src/backends/backend.ts';
import type { ProgramRow, Row } from './row.ts';
import { ALL_ROWS } from './rows/all.ts';
import { openWorld, type World } from './world.ts';

const hasControl = (row: Row): row is ProgramRow => 'code' in row && row.hasControl === true;

/** A row that would pass also where nothing keeps a program from anything shows nothing. */
describe('the programs of the kit, run bare', () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld();
  });
  afterAll(async () => await world.close());

  it.each(ALL_ROWS.filter(hasControl))('get through: $group: $name', async ({ code, language }) => {
    expect(language).toBe('python');
    const text = typeof code === 'function' ? code(world) : code;
    // The servers that it knocks at are of this process, which therefore must not wait for it.
    const { spawn } = await import('node:child_process');
    const child = spawn('/usr/bin/python3', ['-'], { stdio: ['pipe', 'pipe', 'inherit'] });
    child.stdin.end(text);
    const chunks: Buffer[] = [];
    for await (const chunk of child.stdout) chunks.push(chunk as Buffer);
    expect(Buffer.concat(chunks).toString()).toContain(world.canary);
  });

  it('are written without a mistake', () => {
    const compile = 'import sys; compile(sys.stdin.read(), "row", "exec")';
    for (const row of ALL_ROWS) {
      if (!('code' in row) || row.language !== 'python') continue;
      const input = typeof row.code === 'function' ? row.code(world) : row.code;
      const { status, stderr } = spawnSync('/usr/bin/python3', ['-c', compile], {
        input,
        encoding: 'utf8',
      });
      expect(status, `${row.name}\n${stderr}`).toBe(0);
    }
  });

  it('have names of their own, and are at least forty that mean harm', () => {
    const names = ALL_ROWS.map(({ group, name }) => `${group}: ${name}`);
    expect(new Set(names).size).toBe(names.length);
    const harmful = ALL_ROWS.filter(({ group }) => group === 'hostile');
    expect(harmful.length).toBeGreaterThanOrEqual(40);
    for (const language of LANGUAGES.filter((name) => name !== 'typescript'))
      expect(harmful.some((row) => 'language' in row && row.language === language)).toBe(true);
  });
});
