import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { run } from '../../src/cli/commands/policy-check.ts';
import type { PolicyCheck } from '../../src/cli/policy-check-report.ts';
import { capture } from './capture.ts';

let dir = '';
beforeEach(() => void (dir = realpathSync(mkdtempSync(join(tmpdir(), 'assay-check-')))));
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function write(text: string, name = 'policy.yaml'): string {
  const path = join(dir, name);
  writeFileSync(path, text);
  return path;
}

async function check(text: string): Promise<PolicyCheck> {
  const { stdout, code } = await capture(run, { json: 'true' }, [write(text)]);
  expect(code).toBe(0);
  return JSON.parse(stdout) as PolicyCheck;
}

describe('policy check', () => {
  it('counts rules and examples, those of extended files included', async () => {
    write('tests:\n  - deny: fs.read /etc/shadow\n', 'base.yaml');
    const report = await check(
      'extends: [./base.yaml]\nfs:\n  read: [/usr/share, /usr/lib]\n  deny: [/opt/x]\nnet: { allow: ["*"] }\nlimits: { pids: 10 }\ntests:\n  - allow: fs.read /usr/share/doc\n',
    );
    expect(report.counts).toEqual({
      allow: 2,
      deny: 1,
      protect: 0,
      netAllow: 1,
      netDeny: 0,
      unix: 0,
      limits: 1,
    });
    expect(report.examples).toBe(2);
  });

  it('names the deny, the allow around it and where both stand', async () => {
    mkdirSync(join(dir, 'private'));
    const report = await check(`fs:\n  allow: ["${dir}"]\n  deny: ["${dir}/private"]\n`);
    const file = join(dir, 'policy.yaml');
    expect(report.conflicts).toHaveLength(1);
    expect(report.conflicts[0]?.deny).toMatchObject({ key: 'fs.deny', source: `${file}:3:10` });
    expect(report.conflicts[0]?.inside).toEqual([
      { effect: 'allow', key: 'fs.allow', text: dir, source: `${file}:2:11` },
    ]);
    expect(report.conflicts[0]?.layers).toContain('broker');
  });

  it('notes paths that do not exist', async () => {
    const report = await check('fs: { read: [/nonexistent/place] }\n');
    expect(report.notes).toEqual(['fs.read: /nonexistent/place names nothing that exists']);
  });

  it('says ok in text, with the conflicts', async () => {
    const file = write('fs:\n  allow: ["/opt"]\n  deny: ["/opt/secret"]\n');
    const { stdout, code } = await capture(run, {}, [file]);
    expect(code).toBe(0);
    expect(stdout).toContain(`ok: ${file}`);
    expect(stdout).toContain('fs.deny: /opt/secret');
    expect(stdout).toContain('inside fs.allow: /opt');
  });

  it('lists every problem with its line, and exits 2', async () => {
    const file = write('fs:\n  wriet: [x]\n  deny: 3\n');
    const { stdout, stderr, code } = await capture(run, {}, [file]);
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toContain(`${file}:2:3: unknown key \`wriet\``);
    expect(stderr).toContain(`${file}:3:9: \`fs.deny\` is the number`);
    expect(stderr).toContain('E_POLICY_LOAD_FAILED_UNENFORCEABLE');
  });

  it('gives the problems as JSON, also for a file that is not there', async () => {
    const broken = await capture(run, { json: 'true' }, [write('fs: { wriet: [x] }\n')]);
    expect(broken.code).toBe(2);
    expect(JSON.parse(broken.stdout)).toMatchObject({
      isOk: false,
      problems: [{ at: { line: 1, column: 7 } }],
    });
    const missing = await capture(run, { json: 'true' }, [join(dir, 'nope.yaml')]);
    expect(missing.code).toBe(2);
    expect(JSON.parse(missing.stdout)).toMatchObject({
      isOk: false,
      code: 'E_POLICY_LOAD_FAILED_UNENFORCEABLE',
    });
  });

  it('fails when an example does not hold', async () => {
    const { code, stderr } = await capture(run, {}, [
      write('tests:\n  - allow: fs.read /etc/shadow\n'),
    ]);
    expect(code).toBe(2);
    expect(stderr).toContain('must be allowed, but it is refused');
  });
});
