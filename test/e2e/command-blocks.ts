import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

import type { Place } from './place.ts';
import { ASSAY, makeEnv, type Outcome, runBare } from './run-assay.ts';

export const ROOT = join(import.meta.dirname, '../..');

export interface Block {
  /** What stands behind the fence, such as `yaml`. */
  readonly kind: string;
  readonly text: string;
}

/** The fenced blocks of a page, in order. */
export function readBlocks(page: string): Block[] {
  const text = readFileSync(join(ROOT, page), 'utf8');
  return Array.from(text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm), (found) => ({
    kind: found[1] ?? '',
    text: found[2] ?? '',
  }));
}

/** The commands of a block, each as it stands, with the lines that it goes on in. */
export function splitCommands(text: string): string[] {
  return text.split(/(?<!\\)\n/).filter((line) => line.trim() !== '');
}

/** Works in the workspace, and tries to leave something that runs later, outside. */
const AGENT = `#!/bin/sh
mkdir -p src
echo 'int main(void) { return 0; }' > src/main.c
echo '# agent' > src/notes.md
cp README.md src/copy.md
sh -c 'echo x > .git/hooks/post-checkout'
exit 0
`;

/** A git repository as somebody has it who reads the page: with this README, and `your-agent` and `assay` on PATH. */
export async function makeCheckout(place: Place): Promise<Place> {
  place.write('work/tools/your-agent', AGENT, 0o755);
  place.write('work/README.md', readFileSync(join(ROOT, 'README.md')));
  place.write('home/.ssh/id_ed25519', 'secret\n');
  symlinkSync(ASSAY, join(place.makeDir('bin'), 'assay'));
  symlinkSync(ASSAY, join(place.makeDir('work/bin'), 'assay.js'));
  const { code, stderr } = await runBare({ place, command: ['/usr/bin/git', 'init', '--quiet'] });
  if (code !== 0) throw new Error(stderr);
  place.makeDir('work/.git/hooks');
  return place;
}

/** A command as it is typed. */
export function type(
  place: Place,
  command: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Outcome> {
  const path = `${place.at('bin')}:${place.at('work/tools')}:${makeEnv(place)['PATH'] ?? ''}`;
  return runBare({ place, command: ['/bin/bash', '-c', command], env: { PATH: path, ...env } });
}
