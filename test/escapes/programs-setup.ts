import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';

import type { TestProject } from 'vitest/node';

import { ASSAY } from './run.ts';

const SOURCES = join(import.meta.dirname, 'programs');
const FLAGS = ['-O1', '-Wall', '-Wextra', '-Wno-unused-result', '-Wno-missing-field-initializers'];
const FREE_FLAGS = ['-O1', '-nostdlib', '-static', '-ffreestanding', '-fno-stack-protector'];

const REFUSE_CALLS = join(import.meta.dirname, '../fixtures/refuse-calls.c');
/** By the filters that engines put around containers, of what the broker would make use of. */
const REFUSED_CALLS = ['process_vm_readv', 'pidfd_getfd', 'kcmp', 'unshare-fs'];

/** Compiles the attacks that are written in C, once for all files of a run of the tests. */
export function setup(project: TestProject): () => void {
  const directory = fs.mkdtempSync('/var/tmp/assay-esc-cc-');
  const close = (): void => fs.rmSync(directory, { recursive: true, force: true });
  const sources = fs.readdirSync(SOURCES).filter((name) => name.endsWith('.c'));
  try {
    fs.chmodSync(directory, 0o755);
    compile([...FLAGS, '-Werror', '-pthread', '-o', join(directory, 'attack'), ...sources, '-lrt']);
    compile([...FREE_FLAGS, '-o', join(directory, 'still'), 'bare/still.c']);
    compile([...FLAGS, '-Werror', '-o', join(directory, 'refuse-calls'), REFUSE_CALLS]);
    const refuse = [join(directory, 'refuse-calls'), ...REFUSED_CALLS, '--', ASSAY];
    const script = `#!/bin/sh\nexec ${refuse.map((word) => `'${word}'`).join(' ')} "$@"\n`;
    fs.writeFileSync(join(directory, 'refused-assay'), script, { mode: 0o755 });
  } catch (error) {
    close();
    throw error;
  }
  project.provide('attackPrograms', directory);
  return close;
}

function compile(args: readonly string[]): void {
  const result = spawnSync('cc', args, { cwd: SOURCES, encoding: 'utf8' });
  if (result.status !== 0)
    throw new Error(
      `The attack programs do not compile: ${result.error?.message ?? result.stderr}`,
    );
}
