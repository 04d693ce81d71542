import { compileFilter } from '../../plan/seccomp/compile-filter.ts';

/** The system calls that programs are refused, whatever the engine lets through: those that the local boundary refuses. */
export function makeFilter(): Uint8Array {
  return compileFilter({
    arch: process.arch === 'arm64' ? 'arm64' : 'x64',
    notify: null,
    sockets: { inet: 'all', unix: 'any', netlink: true },
    isAttributeChangeRefused: false,
    isLandlockRefused: false,
    isIpcRefused: false,
  });
}
