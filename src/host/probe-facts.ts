import { spawnSync } from 'node:child_process';
import { AssayError } from '../core/errors.ts';
import type { Availability, HostFacts } from './facts.ts';
import { guessFacts } from './guess-facts.ts';
import { tryCgroups } from './probe-cgroups.ts';
import { explainErrno } from './probe-reasons.ts';
import { type ParsedProbe, parseProbe, type ProbeErrors, type ProbeName } from './probes.ts';
import { type HostSwitches, readSwitches } from './switches.ts';

export interface HostProbe {
  readonly facts: HostFacts;
  readonly errors: ProbeErrors;
  readonly switches: HostSwitches;
}

const TIMEOUT_MS = 10_000;

/** The guessed facts, with what was found by doing in place of each guess. */
export function applyProbe(
  guess: HostFacts,
  { errors, landlockAbi }: ParsedProbe,
  switches: HostSwitches,
): HostFacts {
  const judge = (name: ProbeName): Availability =>
    errors[name] === ''
      ? { isAvailable: true }
      : { isAvailable: false, reason: explainErrno(name, errors[name], switches) };
  return {
    ...guess,
    landlockAbi,
    landlockReason:
      errors.landlock === '' ? undefined : explainErrno('landlock', errors.landlock, switches),
    seccomp: judge('seccomp'),
    notify: judge(errors.notify === '' ? 'memory' : 'notify'),
    descriptors: judge('descriptors'),
    nft: judge('nft'),
    namespaces: {
      user: judge('user'),
      mount: judge('mount'),
      pid: judge('pid'),
      ipc: judge('ipc'),
      net: judge('net'),
    },
  };
}

/** What this machine can do, found by doing it: slower than guessing, and right. */
export function probeFacts({ helper }: { readonly helper: string }): HostProbe {
  const result = spawnSync(helper, ['probe'], {
    encoding: 'utf8',
    timeout: TIMEOUT_MS,
    env: {},
    cwd: '/',
  });
  if (result.status !== 0)
    throw new AssayError(
      result.error && 'code' in result.error && result.error.code === 'ENOENT'
        ? 'E_HELPER_MISSING'
        : 'E_LAUNCH_FAILED',
      `Cannot probe this host with ${helper}: ${result.error?.message ?? describeEnd(result)}`,
      { hint: 'Run npm start, which builds the helper', cause: result.error },
    );
  const probe = parseProbe(result.stdout);
  const switches = readSwitches();
  const facts = applyProbe(guessFacts(), probe, switches);
  return {
    facts: { ...facts, cgroup: tryCgroups(facts.cgroup) },
    errors: probe.errors,
    switches,
  };
}

function describeEnd({ status, signal }: { status: number | null; signal: string | null }): string {
  return signal === null ? `it ended with ${String(status)}` : `it was ended by ${signal}`;
}
