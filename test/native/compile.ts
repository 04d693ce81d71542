import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../..');
export const HELPER = join(ROOT, 'dist/assay-helper');

/** The helper's sources. */
export const SOURCES = readdirSync(join(ROOT, 'native'))
  .filter((name) => name.endsWith('.c'))
  .map((name) => join(ROOT, 'native', name));

/** For all of the helper, while other tests run. */
export const COMPILING_MS = 240_000;

export const SANITIZERS = ['-fsanitize=address,undefined', '-fno-sanitize-recover=all', '-g'];

export const SANITIZER_ALARM = /AddressSanitizer: (?!failed to allocate)|runtime error:/;

/** A directory for what a test compiles. */
export class Workshop {
  readonly path = mkdtempSync(join(tmpdir(), 'assay-native-'));

  /** Compiles and links; returns the program, or what the compiler said. */
  build(
    name: string,
    args: readonly string[],
    compiler = 'cc',
  ): { readonly program: string } | { readonly problem: string } {
    const program = join(this.path, name);
    const { status, stderr, error } = spawnSync(compiler, [...args, '-o', program], {
      encoding: 'utf8',
    });
    return status === 0 ? { program } : { problem: error?.message ?? stderr };
  }

  /** The sanitizers if this compiler has them, else nothing. */
  findSanitizers(): readonly string[] {
    const source = join(ROOT, 'test/native/match-driver.c');
    return 'program' in this.build('try', [...SANITIZERS, source]) ? SANITIZERS : [];
  }

  close(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

export function hasProgram(name: string): boolean {
  return spawnSync(name, ['--version']).status === 0;
}
