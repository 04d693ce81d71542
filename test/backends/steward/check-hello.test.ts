import { describe, expect, it } from 'vitest';

import { checkHello, type Expected } from '../../../src/backends/steward/check-hello.ts';

const GOOD = {
  pid: '1',
  uid: '61000',
  root: 'ro',
  interfaces: 'lo',
  CapEff: '0000000000000000',
  CapBnd: '0000000000000000',
  NoNewPrivs: '1',
  Seccomp: '2',
  workspace: 'rw 1048576 501',
  tmp: 'rw 1048576 501',
  inode: '12',
};

const EXPECTED: Expected = {
  uid: 61_000,
  isKernelShared: true,
  diskBytes: 1048576,
  inodes: 500,
  hasOwnWorkspace: true,
  inode: 12,
};

const toHello = (values: Readonly<Record<string, string>>) =>
  new Map(Object.entries(values).map(([name, value]) => [name, value.split(' ')]));

describe('checkHello()', () => {
  it('takes a container that is what was asked for', () => {
    expect(() => checkHello(toHello(GOOD), EXPECTED)).not.toThrow();
  });

  it.each([
    ['pid', '7'],
    ['uid', '0'],
    ['root', 'rw'],
    ['interfaces', 'lo eth0'],
    ['interfaces', 'eth0'],
    ['CapEff', '00000000a80425fb'],
    ['CapBnd', '00000000a80425fb'],
    ['NoNewPrivs', '0'],
    ['Seccomp', '0'],
    ['workspace', 'rw 2097152 501'],
    ['workspace', 'ro 1048576 501'],
    ['tmp', 'rw 1048576 9999'],
    ['tmp', 'absent'],
    ['inode', '13'],
  ])('refuses one whose %s is %s', (name, value) => {
    expect(() => checkHello(toHello({ ...GOOD, [name]: value }), EXPECTED)).toThrow(
      /not what was asked for/,
    );
  });

  it.each(Object.keys(GOOD))('refuses one that does not say its %s', (name) => {
    const rest = Object.fromEntries(Object.entries(GOOD).filter(([key]) => key !== name));
    expect(() => checkHello(toHello(rest), EXPECTED)).toThrow(/not what was asked for/);
  });
});
