import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { BackendReport } from '../backend.ts';

const PROGRAMS = {
  python: ['/usr/bin/python3'],
  javascript: ['/usr/local/bin/node'],
  // It takes the types out by itself.
  typescript: ['/usr/local/bin/node', '--disable-warning=ExperimentalWarning'],
  bash: ['/bin/bash'],
} as const;

/** Of the image that assay makes itself. */
export function listLanguages(rootfs: string): BackendReport['languages'] {
  const lines = readVersions(rootfs).split('\n');
  const versions = new Map(lines.map((line) => line.split(' ', 2) as [string, string]));
  const of = (language: keyof typeof PROGRAMS) => {
    const program = language === 'typescript' ? 'javascript' : language;
    return { argv: PROGRAMS[language], version: versions.get(program) };
  };
  return {
    python: of('python'),
    javascript: of('javascript'),
    typescript: of('typescript'),
    bash: of('bash'),
  };
}

function readVersions(rootfs: string): string {
  try {
    return readFileSync(join(dirname(rootfs), 'versions'), 'latin1');
  } catch {
    return ''; // an image from elsewhere
  }
}
