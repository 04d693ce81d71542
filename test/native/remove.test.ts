import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';

const HELPER = join(import.meta.dirname, '../../dist/assay-helper');

let base = '';
let tree = '';
beforeEach(() => {
  base = mkdtempSync('/var/tmp/assay-remove-');
  tree = join(base, 'tree');
  mkdirSync(tree);
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function remove(): number | null {
  return spawnSync(HELPER, ['remove', tree], { env: {}, stdio: 'ignore' }).status;
}

it('removes what bears the names that it gives itself', () => {
  for (let number = 0; number < 20; number++)
    mkdirSync(join(tree, `.removed-${number}/inner/.removed-${number + 1}/full`), {
      recursive: true,
    });
  expect(remove()).toBe(0);
  expect(existsSync(tree)).toBe(false);
});

it('removes what lies deeper than a path may be long, and what its owner has locked', () => {
  const dig = `cd "$1"; mkdir locked; echo x > locked/file; chmod 0 locked
n=0; while [ $n -lt 400 ]; do mkdir dddddddddddddddddddd && cd -P dddddddddddddddddddd || exit 1; n=$((n+1)); done; chmod 0 .`;
  execFileSync('/bin/sh', ['-c', dig, 'sh', tree]);
  expect(remove()).toBe(0);
  expect(existsSync(tree)).toBe(false);
});

it('leaves what a link in it leads to', () => {
  const kept = join(base, 'kept');
  mkdirSync(kept);
  writeFileSync(join(kept, 'file'), 'kept');
  execFileSync('/bin/ln', ['-s', kept, join(tree, 'link')]);
  expect(remove()).toBe(0);
  expect(existsSync(join(kept, 'file'))).toBe(true);
});
