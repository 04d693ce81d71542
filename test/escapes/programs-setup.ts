import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';

import type { TestProject } from 'vitest/node';

const SOURCES = join(import.meta.dirname, 'programs');
const FLAGS = ['-O1', '-Wall', '-Wextra', '-Wno-unused-result', '-Wno-missing-field-initializers'];
const FREE_FLAGS = ['-O1', '-nostdlib', '-static', '-ffreestanding', '-fno-stack-protector'];

/** Compiles the attacks that are written in C, once for all files of a run of the tests. */
export function setup(project: TestProject): () => void {
  const directory = fs.mkdtempSync('/var/tmp/assay-esc-cc-');
  const close = (): void => fs.rmSync(directory, { recursive: true, force: true });
  const sources = fs.readdirSync(SOURCES).filter((name) => name.endsWith('.c'));
  try {
    fs.chmodSync(directory, 0o755);
    compile([...FLAGS, '-Werror', '-pthread', '-o', join(directory, 'attack'), ...sources, '-lrt']);
    compile([...FREE_FLAGS, '-o', join(directory, 'still'), 'bare/still.c']);
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
