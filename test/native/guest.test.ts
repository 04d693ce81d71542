import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';

import { afterAll, describe, expect, it } from 'vitest';

import { hasProgram, ROOT, Workshop } from './compile.ts';

const SCRIPT = fs.readFileSync(join(ROOT, 'scripts/engines/microvm.sh'), 'utf8');

/** As the script has it, so that what is tested is what is built. */
function readFlags(): string[] {
  const [, flags = ''] = /"\$compiler" (-std=[\s\S]*?) -Inative/.exec(SCRIPT) ?? [];
  return flags.replaceAll('\\\n', ' ').split(/\s+/).filter(Boolean);
}

function listSources(): string[] {
  const guest = fs.readdirSync(join(ROOT, 'native/guest')).filter((name) => name.endsWith('.c'));
  return [...guest.map((name) => `native/guest/${name}`), 'native/digest.c'];
}

describe('the agent of the guest', () => {
  const workshop = new Workshop();
  afterAll(() => workshop.close());

  it('is built without a warning, hardened, and needs no library', ({ skip }) => {
    const flags = readFlags();
    for (const flag of ['-Wall', '-Wextra', '-Werror', '-fstack-protector-strong', '-static-pie'])
      expect(flags).toContain(flag);
    const sources = listSources().map((path) => join(ROOT, path));
    const built = workshop.build('agent', [...flags, `-I${ROOT}/native`, ...sources]);
    if ('problem' in built) return expect(built.problem).toBe('');
    if (!hasProgram('readelf')) return skip('readelf is not installed');
    const { stdout } = spawnSync('readelf', ['-d', '-l', built.program], { encoding: 'utf8' });
    expect(stdout).not.toContain('(NEEDED)');
    expect(stdout).toContain('GNU_RELRO');
    expect(stdout).toMatch(/GNU_STACK.*\n.*RW /);
  });

  it('has files that fit on a few screens', () => {
    for (const path of listSources())
      expect(fs.readFileSync(join(ROOT, path), 'utf8').split('\n').length, path).toBeLessThan(351);
  });

  it('speaks the protocol that the host speaks', () => {
    const header = fs.readFileSync(join(ROOT, 'native/guest/agent.h'), 'utf8');
    const host = fs.readFileSync(join(ROOT, 'src/backends/microvm/messages.ts'), 'utf8');
    expect(/#define PROTOCOL (\d+)/.exec(header)?.[1]).toBe(/PROTOCOL = (\d+)/.exec(host)?.[1]);
  });
});
