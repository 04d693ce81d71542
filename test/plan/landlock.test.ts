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
    isUnixRefused: true,
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

describe('The rights of ABI 9 and 10', () => {
  const plan = (abi: number, isUnixRefused: boolean, isNetworkRefused: boolean) =>
    planLandlock({
      abi,
      grants: [],
      system: [],
      listed: [],
      isRestReadOnly: true,
      isNetworkRefused,
      isUnixRefused,
    });
  const RESOLVE_UNIX = 1 << 16;

  it('are asked for where the kernel has them: unix sockets by path, UDP', () => {
    expect([8, 9].map((abi) => plan(abi, true, true).fs & RESOLVE_UNIX)).toEqual([0, RESOLVE_UNIX]);
    expect([9, 10, 11].map((abi) => plan(abi, true, true).net)).toEqual([3, 15, 15]);
  });

  it('are not, where a rule names a socket or the network is open', () => {
    expect(plan(10, false, false)).toMatchObject({ fs: 0xffff, net: 0 });
  });
});
