import type { Arch } from '../../host/facts.ts';
import { nameCommonFilter } from './common-filter-name.ts';
import { compileFilter } from './compile-filter.ts';
import type { BrokeredCalls, FilterRequest } from './filter-request.ts';

const OPENS: readonly BrokeredCalls['opens'][] = ['probe', 'effects', 'all'];

type Programs = Pick<BrokeredCalls, 'exec' | 'start'>;

const PROGRAMS: readonly Programs[] = [
  { exec: false, start: false },
  { exec: true, start: false },
  { exec: true, start: true },
];

/** The filters of ordinary runs, on a host that has every layer. The build compiles them, so that a start need not. */
export function compileCommonFilters(arch: Arch): { name: string; bytes: Uint8Array }[] {
  return OPENS.flatMap((opens) =>
    PROGRAMS.flatMap((programs) => {
      const request = makeCommonRequest({ arch, opens, programs });
      const name = nameCommonFilter(request);
      return name === undefined ? [] : [{ name, bytes: compileFilter(request) }];
    }),
  );
}

function makeCommonRequest(options: {
  arch: Arch;
  opens: BrokeredCalls['opens'];
  programs: Programs;
}): FilterRequest {
  const { arch, opens, programs } = options;
  return {
    arch,
    notify: {
      opens,
      ...programs,
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
