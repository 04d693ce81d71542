import { expect, it } from 'vitest';
import { renameLimits } from '../../src/backends/limit-names.ts';

const NAMES = { memoryBytes: '--memory', pids: '--pids' };

it.each([
  ['Cannot use 1 for limits.memoryBytes', 'Cannot use 1 for --memory'],
  ['options.limits.pids: too many', '--pids: too many'],
  ['no room (limits.memoryBytes, limits.inodes)', 'no room (--memory, limits.inodes)'],
  ['limits.toString is none', 'limits.toString is none'],
  ['Cannot use "limits.pids": no such file', 'Cannot use "limits.pids": no such file'],
  ['/w/limits.pids and limits.pids.txt', '/w/limits.pids and limits.pids.txt'],
])('renameLimits() makes of %j %j', (text, renamed) => {
  expect(renameLimits(text, NAMES)).toBe(renamed);
});
