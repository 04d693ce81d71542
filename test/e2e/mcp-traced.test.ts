import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, it } from 'vitest';
import { findPeople } from './as-user.ts';
import { Place } from './place.ts';
import { ASSAY, makeEnv } from './run-assay.ts';

const CALLS = 'execve,execveat,clone,clone3,fork,vfork';
const HELLO: Readonly<Record<string, string>> = {
  python: 'import subprocess\nsubprocess.run(["/bin/echo", "hello"])',
  javascript: 'require("child_process").execFileSync("/bin/echo", ["hello"], { stdio: "inherit" })',
  bash: '/bin/echo hello',
};
function findObstacle(): string {
  if (process.getuid?.() !== 0)
    return ' (not run: only root can tell process numbers of namespaces)';
  return spawnSync('strace', ['-V']).status === 0 ? '' : ' (not run: strace is not installed)';
}

const whyNot = findObstacle();

interface Execution {
  readonly pid: string;
  readonly image: string;
  /** Whether it, or who started it, runs or has run the helper. */
  readonly isSandboxed: boolean;
}

/** What was executed by whom. Process numbers are those outside, also of processes that know others. */
function listExecutions(log: string): Execution[] {
  const parents = new Map<string, string>();
  const helpers = new Set<string>();
  const attempts: { pid: string; image: string }[] = [];
  for (const line of log.split('\n')) {
    const [, pid = '', rest = ''] = /^(\d+) +(.*)$/.exec(line) ?? [];
    const child = /^(?:<\.\.\. )?(?:clone3?|v?fork)\b.* = (\d+)(?: \/\* (\d+) in )?/.exec(rest);
    if (child) parents.set(child[2] ?? child[1] ?? '', pid);
    const image = /^execve(?:at)?\([^"]*"([^"]*)"/.exec(rest)?.[1];
    if (image === undefined) continue;
    if (image.endsWith('/assay-helper')) helpers.add(pid);
    attempts.push({ pid, image });
  }
  const isSandboxed = (pid: string | undefined): boolean =>
    pid !== undefined && (helpers.has(pid) || isSandboxed(parents.get(pid)));
  return attempts.map((one) => ({ ...one, isSandboxed: isSandboxed(one.pid) }));
}

describe.skipIf(whyNot !== '')(`assay mcp, traced${whyNot}`, () => {
  it('starts nothing but its helper: all code runs below it', async () => {
    const [person] = findPeople().filter((one) => one.whyNot === undefined);
    if (!person) throw new Error('nobody can run this');
    using place = new Place(person, tmpdir());
    const log = place.at('trace');
    const client = new Client({ name: 'test', version: '0' });
    const args = ['-f', '-qq', '--pidns-translation', '-e', `trace=${CALLS}`, '-o', log, ASSAY];
    const env = makeEnv(place) as Record<string, string>;
    try {
      await client.connect(
        new StdioClientTransport({
          command: 'strace',
          args: [...args, 'mcp', '--backend', 'local'],
          env,
          cwd: place.work,
        }),
      );
      for (const [language, code] of Object.entries(HELLO)) {
        const called = await client.callTool({
          name: 'execute_code',
          arguments: { language, code },
        });
        expect(called.structuredContent, language).toMatchObject({ stdout: 'hello\n' });
      }
    } finally {
      await client.close();
    }
    const all = listExecutions(place.read('trace'));
    const inside = all.filter(({ isSandboxed }) => isSandboxed).map(({ image }) => image);
    expect(inside.filter((image) => image === '/bin/echo').length).toBe(3);
    // The server itself, whose first line has env execute node.
    const outside = all.filter(({ isSandboxed }) => !isSandboxed);
    expect(outside.map(({ image }) => image)).toEqual([ASSAY, process.execPath]);
    expect(new Set(outside.map(({ pid }) => pid)).size).toBe(1);
  });
});
