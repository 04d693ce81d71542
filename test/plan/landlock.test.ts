import { describe, expect, it } from 'vitest';
import { READ, WRITE } from '../../src/plan/grants.ts';
import { planLandlock } from '../../src/plan/landlock.ts';

const TRUNCATE = 1 << 14;

function planTruncating(isRestReadOnly: boolean): string[] {
  const { rules } = planLandlock({
    abi: 7,
    grants: [
      { path: '/srv/read', rights: READ },
      { path: '/srv/write', rights: READ | WRITE },
      { path: '/dev/random', rights: READ },
    ],
    system: [{ rights: READ, paths: ['/usr'] }],
    listed: ['/dev'],
    isRestReadOnly,
    isNetworkRefused: true,
  });
  return rules.flatMap(({ access, paths }) => (access & TRUNCATE ? paths : [])).sort();
}

describe('The right to truncate', () => {
  it('comes with reading where the mount refuses it anyway', () => {
    expect(planTruncating(true)).toEqual(['/srv/read', '/srv/write']);
  });

  it('comes with writing alone where no mount refuses it', () => {
    expect(planTruncating(false)).toEqual(['/srv/write']);
  });
});
