import { describe, expect, it } from 'vitest';
import { nameCommonFilter } from '../../../src/plan/seccomp/common-filter-name.ts';
import { compileCommonFilters } from '../../../src/plan/seccomp/common-filters.ts';
import { compileFilter } from '../../../src/plan/seccomp/compile-filter.ts';
import type { FilterRequest } from '../../../src/plan/seccomp/filter-request.ts';

const COMMON: FilterRequest = {
  arch: 'x64',
  notify: {
    opens: 'effects',
    mutations: true,
    attributes: true,
    connect: true,
    exec: false,
    fork: false,
    umask: true,
  },
  sockets: { inet: 'all', unix: 'connected', netlink: true },
  isAttributeChangeRefused: false,
  isLandlockRefused: true,
  isIpcRefused: false,
};

describe('compileCommonFilters()', () => {
  it('has the filter that the request itself compiles to', () => {
    const found = compileCommonFilters('x64').find(({ name }) => name === nameCommonFilter(COMMON));
    expect(found?.bytes).toEqual(compileFilter(COMMON));
  });

  it('names each filter once', () => {
    const names = compileCommonFilters('arm64').map(({ name }) => name);
    expect(new Set(names).size).toBe(9);
  });
});

describe('nameCommonFilter()', () => {
  const { notify } = COMMON;
  if (!notify) throw new Error('the common request has a broker');
  it.each([
    { ...COMMON, notify: null },
    { ...COMMON, notify: { ...notify, opens: 'none' } },
    { ...COMMON, notify: { ...notify, mutations: false } },
    { ...COMMON, notify: { ...notify, attributes: false } },
    { ...COMMON, notify: { ...notify, connect: false } },
    { ...COMMON, notify: { ...notify, fork: true } },
    { ...COMMON, notify: { ...notify, umask: false } },
    { ...COMMON, notify: { ...notify, listen: true } },
    { ...COMMON, notify: { ...notify, start: true } },
    { ...COMMON, isObserveOnly: true },
    { ...COMMON, sockets: { ...COMMON.sockets, inet: 'none' } },
    { ...COMMON, sockets: { ...COMMON.sockets, unix: 'none' } },
    { ...COMMON, sockets: { ...COMMON.sockets, netlink: false } },
    { ...COMMON, sockets: { ...COMMON.sockets, isUdpAllowed: true } },
    { ...COMMON, isAttributeChangeRefused: true },
    { ...COMMON, isLandlockRefused: false },
    { ...COMMON, isIpcRefused: true },
  ] as FilterRequest[])('has no name for a request that differs: %j', (request) => {
    expect(nameCommonFilter(request)).toBeUndefined();
  });
});
