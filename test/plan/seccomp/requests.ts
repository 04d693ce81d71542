import type { Arch } from '../../../src/host/facts.ts';
import type {
  BrokeredCalls,
  FilterRequest,
  SocketRequest,
} from '../../../src/plan/seccomp/filter-request.ts';

export const ARCHES: readonly Arch[] = ['x64', 'arm64'];
export const AUDIT_ARCH: Readonly<Record<Arch, number>> = { x64: 0xc000003e, arm64: 0xc00000b7 };

export const NOTHING_BROKERED: BrokeredCalls = {
  opens: 'none',
  mutations: false,
  attributes: false,
  connect: false,
  listen: false,
  exec: false,
  fork: false,
  umask: false,
};

export const ALL_BROKERED: BrokeredCalls = {
  opens: 'all',
  mutations: true,
  attributes: true,
  connect: true,
  listen: true,
  exec: true,
  fork: true,
  umask: true,
};

const OPEN_SOCKETS: SocketRequest = { inet: 'all', unix: 'any', netlink: true };

export function makeRequest(parts: Partial<FilterRequest> = {}): FilterRequest {
  return {
    arch: 'x64',
    notify: null,
    sockets: OPEN_SOCKETS,
    isAttributeChangeRefused: false,
    isLandlockRefused: false,
    ...parts,
  };
}

/** One request for each choice that a request has, so that every rule is in at least one filter. */
export function listRequests(arch: Arch): FilterRequest[] {
  const requests = [
    makeRequest(),
    makeRequest({ sockets: { inet: 'none', unix: 'none', netlink: false } }),
    makeRequest({ sockets: { inet: 'no-bypass', unix: 'connected', netlink: true } }),
    makeRequest({
      sockets: { inet: 'no-bypass', isUdpAllowed: true, unix: 'connected', netlink: false },
    }),
    makeRequest({ isAttributeChangeRefused: true, isLandlockRefused: true, isIpcRefused: true }),
    makeRequest({ notify: NOTHING_BROKERED }),
    makeRequest({ notify: ALL_BROKERED, isLandlockRefused: true }),
    makeRequest({ notify: { ...ALL_BROKERED, opens: 'effects' } }),
    makeRequest({ notify: { ...ALL_BROKERED, opens: 'probe' } }),
  ];
  return requests.map((request) => ({ ...request, arch }));
}
