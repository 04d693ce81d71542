import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { run } from '../../src/cli/commands/evidence-check.ts';
import { AssayError } from '../../src/core/errors.ts';
import { capture } from './capture.ts';

const place = mkdtempSync(join(tmpdir(), 'assay-check-'));
afterAll(() => rmSync(place, { recursive: true }));

function save(name: string, content: string | Uint8Array): string {
  writeFileSync(join(place, name), content);
  return join(place, name);
}

const EVENTS = '[{"type":"assay.sandbox.fs","subject":"/a\\u001b[31m","data":{"op":"write"}}]';
const DEGRADED = '[{"type":"assay.sandbox.degraded","data":{"reason":"no Landlock"}}]';

describe('evidence check', () => {
  it('prints the verdict and what it is based on', async () => {
    const { code, stdout } = await capture(run, {}, [save('e.json', EVENTS)]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^✓ .*e\.json: pass \(sandbox-events\)\n/);
    expect(stdout).toContain('  fs_by_op: {"write":1}\n');
    expect(stdout).not.toContain('\u001b');
  });

  it('exits with 6 for a degraded run, and with 0 where that is allowed', async () => {
    const file = save('d.json', DEGRADED);
    expect((await capture(run, {}, [file])).code).toBe(6);
    const allowed = await capture(run, { 'allow-degraded': 'true', json: 'true' }, [file]);
    expect(allowed.code).toBe(0);
    expect(JSON.parse(allowed.stdout)).toMatchObject({ verdict: 'pass', exit_code: 0 });
  });

  it.each<[string, string | Uint8Array]>([
    ['an empty list', '[]'],
    ['an empty file', ''],
    ['what is not JSON', '{'],
    ['what is not text', new Uint8Array([0x5b, 0xff, 0x5d])],
  ])('exits with 3 for %s', async (_, content) => {
    const { code, stdout } = await capture(run, { json: 'true' }, [save('x.json', content)]);
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({ verdict: 'malformed', exit_code: 3 });
  });

  it('exits with 3 for what never ends', async () => {
    expect((await capture(run, {}, ['/dev/zero'])).code).toBe(3);
  });

  it('says when there is no such file', async () => {
    await expect(capture(run, {}, [join(place, 'none')])).rejects.toThrow(AssayError);
  });
});
