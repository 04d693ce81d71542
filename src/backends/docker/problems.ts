import type { EngineFacts } from './engine.ts';

export interface Problem {
  readonly reason: string;
  readonly hint: string;
}

const ARCHITECTURES: Readonly<Record<string, readonly string[]>> = {
  x64: ['x86_64', 'amd64'],
  arm64: ['aarch64', 'arm64'],
};

/** Why an engine that answers is of no use. */
export function findProblems(
  { osType, arch, hasSeccomp }: EngineFacts,
  own: { readonly hasSteward: boolean; readonly hasImage: boolean },
): Problem[] {
  const problems: Problem[] = [];
  const add = (reason: string, hint: string): void => void problems.push({ reason, hint });
  if (osType !== 'linux')
    add(`the engine runs ${osType} containers`, 'Use one of Linux containers');
  if (!ARCHITECTURES[process.arch]?.includes(arch))
    add(`the engine is of ${arch} and this process of ${process.arch}`, 'Use one of this machine');
  if (!hasSeccomp) add('the engine does not filter system calls', 'Use an engine that has seccomp');
  if (!own.hasSteward)
    add(
      'assay-steward was not built, since there is no static C library',
      'Install one (Fedora: glibc-static) and run npm run build',
    );
  if (!own.hasImage) add('the image was not made', 'npm run engines');
  return problems;
}
