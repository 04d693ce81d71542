import type { Variables } from '../../src/policy/policy.ts';

export const VARIABLES: Variables = {
  cwd: '/home/ada/work',
  home: '/home/ada',
  tmpdir: '/tmp/assay-1000-42',
  user: 'ada',
};
