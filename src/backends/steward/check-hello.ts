import { SandboxError } from '../sandbox-error.ts';
import type { Hello } from './steward-link.ts';

export interface Expected {
  readonly uid: number;
  /** Whether the kernel of the host is the one that has to hold. */
  readonly isKernelShared: boolean;
  readonly diskBytes?: number | undefined;
  readonly inodes?: number | undefined;
  /** Whether the workspace is a file system of its own, with a size. */
  readonly hasOwnWorkspace: boolean;
  /** Of the directory of the host that is to be the workspace. */
  readonly inode?: number | undefined;
}

/** Compares what was asked of an engine with what is found inside; engines leave out what they cannot do. */
export function checkHello(hello: Hello, expected: Expected): void {
  const problems: string[] = [];
  const expect = (name: string, wanted: string, index = 0): void => {
    const found = hello.get(name)?.[index] ?? 'unknown';
    if (found !== wanted) problems.push(`${name} is ${found} and not ${wanted}`);
  };
  expect('pid', '1');
  expect('uid', String(expected.uid));
  expect('root', 'ro');
  expect('interfaces', 'lo');
  if (expected.inode !== undefined) expect('inode', String(expected.inode));
  if ((hello.get('interfaces')?.length ?? 0) > 1) problems.push('there are other interfaces');
  expect('CapEff', '0000000000000000');
  if (expected.isKernelShared) {
    expect('CapBnd', '0000000000000000');
    expect('NoNewPrivs', '1');
    expect('Seccomp', '2');
  }
  for (const place of ['tmp', ...(expected.hasOwnWorkspace ? ['workspace'] : [])]) {
    const [access, bytes = 'unknown', files = 'unknown'] = hello.get(place) ?? [];
    if (access !== 'rw') problems.push(`${place} cannot be written to`);
    const { diskBytes, inodes } = expected;
    // Whole pages, and the root directory.
    if (diskBytes !== undefined && !(Number(bytes) <= diskBytes + 4096))
      problems.push(`${place} has ${bytes} bytes and not ${diskBytes}`);
    if (inodes !== undefined && !(Number(files) <= inodes + 1))
      problems.push(`${place} has ${files} inodes and not ${inodes}`);
  }
  if (problems.length > 0)
    throw new SandboxError(
      'start_failed',
      `The container is not what was asked for: ${problems.join('; ')}`,
      { hint: 'The engine has left something out; assay does not run anything in less' },
    );
}
