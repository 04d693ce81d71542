import type { Arch } from '../../host/facts.ts';
import { nameCommonFilter } from './common-filter-name.ts';
import { compileFilter } from './compile-filter.ts';
import type { BrokeredCalls, FilterRequest } from './filter-request.ts';

const OPENS: readonly BrokeredCalls['opens'][] = ['probe', 'effects', 'all'];

/** The filters of ordinary runs, on a host that has every layer. The build compiles them, so that a start need not. */
export function compileCommonFilters(arch: Arch): { name: string; bytes: Uint8Array }[] {
  return OPENS.flatMap((opens) =>
    [false, true].flatMap((exec) => {
      const request = makeCommonRequest({ arch, opens, exec });
      const name = nameCommonFilter(request);
      return name === undefined ? [] : [{ name, bytes: compileFilter(request) }];
    }),
  );
}

function makeCommonRequest(options: {
  arch: Arch;
  opens: BrokeredCalls['opens'];
  exec: boolean;
}): FilterRequest {
  const { arch, opens, exec } = options;
  return {
    arch,
    notify: {
      opens,
      exec,
      mutations: true,
      attributes: true,
      connect: true,
      fork: false,
      umask: true,
    },
    sockets: { inet: 'all', unix: 'connected', netlink: true },
    isAttributeChangeRefused: false,
    isLandlockRefused: true,
    isIpcRefused: false,
  };
}
