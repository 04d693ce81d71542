import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { guessFacts } from '../../src/host/guess-facts.ts';
import { applyProbe, probeFacts } from '../../src/host/probe-facts.ts';
import { parseProbe, PROBES } from '../../src/host/probes.ts';
import type { HostSwitches } from '../../src/host/switches.ts';

const PLAIN: HostSwitches = {
  closedCeilings: [],
  apparmorProfile: null,
  procCovers: [],
  isUsernsCloneOff: false,
  isApparmorRestricting: false,
  ptraceScope: 0,
  isFiltered: false,
  isContainer: false,
};

function answer(errors: Readonly<Partial<Record<string, keyof typeof constants.errno>>>): string {
  const lines = PROBES.map((name) => {
    const error = errors[name];
    return `${name} ${error === undefined ? 0 : constants.errno[error]}`;
  });
  return ['landlock_abi 6', ...lines, ''].join('\n');
}

describe('parseProbe()', () => {
  it('reads names and numbers', () => {
    const { errors, landlockAbi } = parseProbe(answer({ user: 'ENOSPC' }));
    expect(landlockAbi).toBe(6);
    expect(errors).toMatchObject({ landlock: '', user: 'ENOSPC', notify: '' });
  });

  it('takes a probe without an answer for a failed one', () => {
    expect(parseProbe('user 0\n').errors).toMatchObject({ user: '', net: 'no answer' });
  });

  it('has no ABI where Landlock failed, whatever the number says', () => {
    expect(parseProbe(answer({ landlock: 'EOPNOTSUPP' })).landlockAbi).toBe(0);
  });
});

describe('applyProbe()', () => {
  const reasonOf = (
    name: 'user' | 'mount' | 'notify' | 'landlock' | 'seccomp',
    error: keyof typeof constants.errno,
    switches: Partial<HostSwitches> = {},
  ): string | undefined => {
    const probe = parseProbe(answer({ [name]: error }));
    const facts = applyProbe(guessFacts(), probe, { ...PLAIN, ...switches });
    if (name === 'landlock') return facts.landlockReason;
    const found = name === 'notify' || name === 'seccomp' ? facts[name] : facts.namespaces[name];
    return found.isAvailable ? undefined : found.reason;
  };

  it('keeps what works', () => {
    const facts = applyProbe(guessFacts(), parseProbe(answer({})), PLAIN);
    expect(facts.landlockAbi).toBe(6);
    expect(Object.values(facts.namespaces).every(({ isAvailable }) => isAvailable)).toBe(true);
  });

  it.each([
    [
      'user',
      'ENOSPC',
      { closedCeilings: ['user.max_user_namespaces'] },
      'user.max_user_namespaces is 0 (ENOSPC)',
    ],
    ['user', 'ENOSPC', {}, 'the limit user.max_user_namespaces is reached (ENOSPC)'],
    [
      'mount',
      'EPERM',
      { isApparmorRestricting: true },
      'AppArmor restricts unprivileged user namespaces (EPERM)',
    ],
    ['user', 'EPERM', { isUsernsCloneOff: true }, 'kernel.unprivileged_userns_clone is 0 (EPERM)'],
    [
      'user',
      'EPERM',
      { isFiltered: true },
      'the container around assay forbids user namespaces (EPERM)',
    ],
    ['user', 'EPERM', {}, 'this host forbids user namespaces (EPERM)'],
    ['notify', 'EBUSY', {}, 'another supervisor listens already (EBUSY)'],
    ['notify', 'EINVAL', {}, 'the kernel is older than 5.19 (EINVAL)'],
    ['landlock', 'ENOSYS', {}, 'the kernel lacks Landlock (ENOSYS)'],
    [
      'landlock',
      'EOPNOTSUPP',
      {},
      'Landlock was turned off when the machine was started (EOPNOTSUPP)',
    ],
    ['seccomp', 'EINVAL', {}, 'the kernel is built without seccomp filters (EINVAL)'],
  ] as const)('explains %s failing with %s', (name, error, switches, reason) => {
    expect(reasonOf(name, error, switches)).toBe(reason);
  });
});

describe('probeFacts()', () => {
  const made: string[] = [];
  afterEach(() => {
    for (const path of made.splice(0)) rmSync(path, { recursive: true, force: true });
  });

  function fakeHelper(script: string): string {
    const dir = mkdtempSync(join(tmpdir(), 'assay-probe-'));
    made.push(dir);
    const path = join(dir, 'helper');
    writeFileSync(path, `#!/bin/sh\n${script}\n`);
    chmodSync(path, 0o755);
    return path;
  }

  it('asks the helper to probe', () => {
    const helper = fakeHelper(`[ "$1" = probe ] && cat <<'END'\n${answer({ net: 'EPERM' })}END`);
    const { facts, errors } = probeFacts({ helper });
    expect(errors.net).toBe('EPERM');
    expect(facts.namespaces.net.isAvailable).toBe(false);
    expect(facts.namespaces.user.isAvailable).toBe(true);
  });

  it('says so when there is no helper', () => {
    expect(() => probeFacts({ helper: '/nonexistent/helper' })).toThrow(
      expect.objectContaining({ code: 'E_HELPER_MISSING' }),
    );
  });

  it('takes no half an answer from a helper that failed', () => {
    const helper = fakeHelper('echo user 0; exit 1');
    expect(() => probeFacts({ helper })).toThrow(
      expect.objectContaining({ code: 'E_LAUNCH_FAILED' }),
    );
  });
});
