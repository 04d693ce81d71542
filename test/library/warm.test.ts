import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import type { CodeInput } from '../../src/tool/code-input.ts';
import { type CodeTool, createCodeTool } from '../../src/tool/code-tool.ts';
import { loadBackend } from '../../src/backends/registry.ts';

const REFILL_MS = 400;

/** What each prints must not depend on when its interpreter was started. */
const PROGRAMS: Readonly<Record<string, CodeInput>> = {
  python: {
    language: 'python',
    code: 'import os, sys\nprint(sys.argv, __file__, os.getcwd(), sys.path[:2], sys.stdin.read())\nsys.exit(3)',
    stdin: 'in',
  },
  'python that fails': { language: 'python', code: 'def f():\n  raise ValueError(1)\nf()' },
  bash: { language: 'bash', code: 'echo "$0 $# $PWD"; cat; exit 4', stdin: 'in' },
  javascript: {
    language: 'javascript',
    code: 'console.log(process.argv.length, __filename, require("fs").readFileSync(0, "utf8"))',
    stdin: 'in',
  },
  'a module': {
    language: 'javascript',
    code: 'import os from "node:os"; console.log(typeof os.cpus, import.meta.url)',
  },
};

const report = await (await loadBackend('local')).probe();

describe.skipIf(!report.isAvailable)('a program that is started ahead', () => {
  const tools: CodeTool[] = [];
  const makeTool = (warm: number, spec = {}): CodeTool => {
    const tool = createCodeTool({ backend: 'local', warm, spec });
    tools.push(tool);
    return tool;
  };
  afterEach(async () => {
    for (const tool of tools.splice(0)) await tool.close();
  });

  /** The first call says what to expect, the second still finds what was made before it. */
  async function expectNext(tool: CodeTool, input: CodeInput): Promise<void> {
    for (let call = 0; call < 2; call++) {
      await tool.execute(input);
      await sleep(REFILL_MS);
    }
  }

  it.each(Object.entries(PROGRAMS))('does the same: %s', async (_, input) => {
    const cold = await makeTool(0).execute(input);
    const tool = makeTool(1);
    await expectNext(tool, input);
    const warm = await tool.execute(input);
    for (const name of ['outcome', 'exit_code', 'stdout', 'stderr', 'denials', 'files'] as const)
      expect(warm[name], name).toEqual(cold[name]);
    expect(warm.evidence.run_id).toBe(cold.evidence.run_id);
    expect(warm.evidence.code_sha256).toBe(cold.evidence.code_sha256);
  });

  it('has the time that it is given from when it is asked for', async () => {
    const tool = makeTool(1, { limits: { wallMs: 1500 } });
    await expectNext(tool, { language: 'python', code: 'pass' });
    await sleep(1600);
    const patient = await tool.execute({ language: 'python', code: 'print(1)' });
    expect(patient).toMatchObject({ outcome: 'exited', stdout: '1\n' });
    await sleep(REFILL_MS);
    const endless = { language: 'python', code: 'while True: pass', timeout_ms: 500 } as const;
    const late = await tool.execute(endless);
    expect(late).toMatchObject({ outcome: 'timeout', exit_code: 124 });
    expect(late.duration_ms).toBeGreaterThanOrEqual(500);
    expect(late.duration_ms).toBeLessThan(1500);
  });

  it('is not used where it may have looked at what has changed', async () => {
    const tool = makeTool(1);
    const input: CodeInput = { language: 'python', code: 'import marked' };
    await expectNext(tool, { language: 'python', code: 'pass' });
    const files = [
      { path: 'sitecustomize.py', content: 'import sys\nsys.modules["marked"] = sys' },
    ];
    expect(await tool.execute({ ...input, files })).toMatchObject({ exit_code: 0, stderr: '' });
  });

  it('is given up when another one is asked for', async () => {
    const tool = makeTool(1);
    await expectNext(tool, { language: 'python', code: 'pass' });
    const other = await tool.execute({ language: 'bash', code: 'echo hi; ls /run/code' });
    expect(other).toMatchObject({ outcome: 'exited', stdout: 'hi\nmain.sh\n' });
  });

  it('finds its code as a plain file that it cannot change, and nothing else', async () => {
    const code = `import os, stat
def attempt(action, *words):
    try: return action(*words)
    except OSError as error: return error.errno
print(os.listdir('/run/code'), stat.filemode(os.stat('/run/code/main.py').st_mode))
print(attempt(os.open, '/run/code/main.py', os.O_WRONLY), attempt(os.mkfifo, '/run/code/other'))
print(attempt(os.unlink, '/run/code/main.py'), attempt(os.rename, '/run/code/main.py', '/run/code/x'))
print(len(os.listdir('/proc/self/fd')), [name for name in os.listdir('/proc') if name.isdigit()])`;
    const tool = makeTool(1);
    await expectNext(tool, { language: 'python', code });
    const { stdout } = await tool.execute({ language: 'python', code });
    expect(stdout.split('\n')).toEqual([
      "['main.py'] -r--r--r--",
      '13 30',
      '30 30',
      expect.stringMatching(/^4 \['1', '\d+'\]$/),
      '',
    ]);
  });

  it('can be taken back', async () => {
    const tool = makeTool(1);
    await expectNext(tool, { language: 'python', code: 'pass' });
    const taken = AbortSignal.timeout(300);
    const sleeper: CodeInput = { language: 'python', code: 'import time; time.sleep(30)' };
    const { outcome, duration_ms: ms } = await tool.execute(sleeper, { signal: taken });
    expect({ outcome, isSoon: ms < 5000 }).toEqual({ outcome: 'aborted', isSoon: true });
  });

  it('keeps nobody from ending', () => {
    const script = `import { createCodeTool } from './dist/index.mjs';
const tool = createCodeTool({ backend: 'local', warm: 1 });
for (let call = 0; call < 2; call++) {
  console.log((await tool.execute({ language: 'python', code: 'print(1)' })).stdout.trim());
  await new Promise((resolve) => setTimeout(resolve, ${REFILL_MS}));
}`;
    const { stdout, status, signal } = spawnSync(
      process.execPath,
      ['--input-type=module', '-e', script],
      { encoding: 'utf8', timeout: 30_000 },
    );
    expect({ stdout, status, signal }).toEqual({ stdout: '1\n1\n', status: 0, signal: null });
  });
});
