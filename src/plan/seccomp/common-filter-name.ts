import type { FilterRequest } from './filter-request.ts';

/** The name of the compiled filter for an ordinary run; undefined for any request that differs from those at all. */
export function nameCommonFilter(request: FilterRequest): string | undefined {
  const { arch, notify, sockets } = request;
  if (!notify || notify.opens === 'none' || notify.fork || notify.listen === true) return undefined;
  if (!notify.mutations || !notify.attributes || !notify.connect || !notify.umask) return undefined;
  if (sockets.inet !== 'all' || sockets.unix !== 'connected' || !sockets.netlink) return undefined;
  if (sockets.isUdpAllowed !== undefined || request.isIpcRefused !== false) return undefined;
  if (request.isAttributeChangeRefused || !request.isLandlockRefused) return undefined;
  if (request.isObserveOnly === true || (notify.start === true && !notify.exec)) return undefined;
  const exec = notify.start === true ? '-record' : notify.exec ? '-exec' : '';
  return `${arch}-${notify.opens}${exec}.bpf`;
}
