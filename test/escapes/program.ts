import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';

const SOURCES = join(import.meta.dirname, 'programs');

export interface Program {
  readonly path: string;
  close(): void;
}

/** Compiles the program that has no C library. */
export function compileStill(path: string): void {
  const flags = ['-O1', '-nostdlib', '-static', '-ffreestanding', '-fno-stack-protector'];
  const source = join(SOURCES, 'bare/still.c');
  const result = spawnSync('cc', [...flags, '-o', path, source], { encoding: 'utf8' });
  if (result.status !== 0) throw new Error(`${source} does not compile: ${result.stderr}`);
}

/** Compiles all C attacks into one program that any user can run. */
export function compileProgram(): Program {
  const dir = fs.mkdtempSync('/var/tmp/assay-esc-cc-');
  fs.chmodSync(dir, 0o755);
  const path = join(dir, 'attack');
  const sources = fs.readdirSync(SOURCES).filter((name) => name.endsWith('.c'));
  const flags = [
    '-O1',
    '-Wall',
    '-Wextra',
    '-Wno-unused-result',
    '-Wno-missing-field-initializers',
    '-Werror',
  ];
  const result = spawnSync('cc', [...flags, '-pthread', '-o', path, ...sources, '-lrt'], {
    cwd: SOURCES,
    encoding: 'utf8',
  });
  const close = () => fs.rmSync(dir, { recursive: true, force: true });
  if (result.status !== 0) {
    close();
    throw new Error(
      `The attack programs do not compile: ${result.error?.message ?? result.stderr}`,
    );
  }
  return { path, close };
}
