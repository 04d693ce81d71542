import { lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AtomicFile } from '../../src/artifacts/atomic-file.ts';
import { makePlace, runTool } from '../core/keys/make-keys.ts';

const place = makePlace();
const at = (name: string): string => join(place, name);

function write(path: string): void {
  const file = new AtomicFile(path, 'the test');
  file.write(['new']);
  file.close();
}

describe('AtomicFile', () => {
  it('takes the place of a file, and of a link to one, which stays', () => {
    writeFileSync(at('old'), 'old');
    symlinkSync('old', at('link'));
    symlinkSync('nothing', at('loose'));
    for (const name of ['link', 'loose']) {
      write(at(name));
      expect(lstatSync(at(name)).isFile()).toBe(true);
    }
    expect(readFileSync(at('old'), 'utf8')).toBe('old');
    write(at('old'));
    expect(readFileSync(at('old'), 'utf8')).toBe('new');
  });

  it('takes the place of nothing else: no device, no pipe, no directory', () => {
    symlinkSync('/dev/null', at('null'));
    runTool('mkfifo', at('pipe'));
    mkdirSync(at('directory'));
    for (const name of ['null', 'pipe']) {
      expect(() => write(at(name))).toThrow('it is not a regular file');
      expect(lstatSync(at(name)).isFile()).toBe(false);
    }
    expect(() => write(at('directory'))).toThrow('it is a directory');
  });
});
