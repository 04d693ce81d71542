import { spawnSync } from 'node:child_process';

import { describe, expect, it } from 'vitest';

import { ASSAY } from './run-assay.ts';

interface Survey {
  readonly backends: readonly {
    readonly id: string;
    readonly isAvailable: boolean;
    readonly languages?: readonly string[];
    readonly runtimes?: Readonly<Record<string, { readonly version?: string }>>;
  }[];
}

const ask = (...words: string[]): string => {
  const { status, stdout, stderr } = spawnSync(ASSAY, words, { encoding: 'utf8' });
  expect(status, stderr).toBe(0);
  return stdout;
};

describe('assay backends', () => {
  it('says the version of every language, and the same with --json', { timeout: 60_000 }, () => {
    const { backends } = JSON.parse(ask('backends', '--no-latency', '--json')) as Survey;
    const text = ask('backends', '--no-latency');
    for (const { id, isAvailable, languages = [], runtimes = {} } of backends) {
      if (!isAvailable) {
        expect(text).not.toContain(`${id}: languages:`);
        continue;
      }
      const named = languages.map((name) => {
        const { version } = runtimes[name] ?? {};
        // What TypeScript is made into has one; and of the host's programs none is run to be asked.
        const isUnknown = name === 'typescript' || (id === 'local' && name === 'bash');
        if (!isUnknown) expect(version, `${id} ${name}`).toMatch(/^\d+\.\d+/);
        return isUnknown ? name : `${name} ${version}`;
      });
      expect(text).toContain(`${id}: languages: ${named.join(', ')}\n`);
    }
  });
});
