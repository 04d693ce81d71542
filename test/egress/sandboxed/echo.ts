import { spawn } from 'node:child_process';
import { copyFileSync, cpSync, mkdtempSync, rmSync, chmodSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'rolldown';
import type { Place } from '../../e2e/place.ts';
import { makeEnv } from '../../e2e/run-assay.ts';
import type { EchoRequest, EchoResult } from './echo-run.ts';

const ROOT = join(import.meta.dirname, '../../..');
const LEASH_MS = 40_000;

export interface EchoOutcome extends EchoResult {
  readonly stdout: string;
}

/** The program of echo-run.ts, with the helper beside it. */
export class EchoDriver {
  readonly #dir = mkdtempSync(join(tmpdir(), 'assay-echo-'));

  static async make(): Promise<EchoDriver> {
    const driver = new EchoDriver();
    const dir = driver.#dir;
    chmodSync(dir, 0o755);
    await build({
      cwd: ROOT,
      input: join(import.meta.dirname, 'echo-run.ts'),
      platform: 'node',
      external: /^node:/,
      logLevel: 'warn',
      output: {
        dir,
        format: 'cjs',
        entryFileNames: '[name].cjs',
        chunkFileNames: 'chunks/[name].cjs',
      },
    });
    copyFileSync(join(ROOT, 'dist/assay-helper'), join(dir, 'assay-helper'));
    cpSync(join(ROOT, 'dist/filters'), join(dir, 'filters'), { recursive: true });
    return driver;
  }

  async run(place: Place, request: EchoRequest): Promise<EchoOutcome> {
    const words = [...place.person.prefix, process.execPath, join(this.#dir, 'echo-run.cjs')];
    const child = spawn(words[0] ?? '', [...words.slice(1), JSON.stringify(request)], {
      cwd: place.work,
      env: makeEnv(place),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const leash = setTimeout(() => child.kill('SIGKILL'), LEASH_MS);
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    await new Promise((resolve) => child.on('close', resolve));
    clearTimeout(leash);
    const json = stderr.slice(stderr.lastIndexOf('\n{"exitCode"') + 1);
    try {
      return { ...(JSON.parse(json) as EchoResult), stdout };
    } catch (cause) {
      throw new Error(`The run did not end well: ${stderr}`, { cause });
    }
  }

  close(): void {
    rmSync(this.#dir, { recursive: true, force: true });
  }
}
