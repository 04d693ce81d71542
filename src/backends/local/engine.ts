import type { HostFacts } from '../../host/facts.ts';
import { guessFacts } from '../../host/guess-facts.ts';
import { probeFacts } from '../../host/probe-facts.ts';
import { ReportReader } from '../../launch/report.ts';
import { correctFacts } from '../../launch/correct-facts.ts';
import { helperPath } from '../../launch/helper-path.ts';
import { DEFAULT_LIMITS } from '../spec.ts';
import { Boundary } from './boundary.ts';
import { encodeSetUp } from './frames.ts';
import { Holder } from './holder.ts';
import { Resident } from './resident.ts';

const MAX_ATTEMPTS = 8;
const TRIAL_BYTES = 1024 * 1024;
const TRIAL_INODES = 100;
/** Without these there is no private root that holds. */
const NEEDED = ['user', 'mount', 'pid', 'ipc', 'net'] as const;

export type Trial =
  | { readonly isAvailable: true; readonly host: HostFacts; readonly resident: Resident }
  | { readonly isAvailable: false; readonly reasons: readonly string[] };

/** Why this host cannot keep a sandbox. */
function findMissing(host: HostFacts): string[] {
  const missing = NEEDED.flatMap((name) => {
    const found = host.namespaces[name];
    return found.isAvailable ? [] : [`no ${name} namespace: ${found.reason}`];
  });
  if (!host.seccomp.isAvailable) missing.push(`no seccomp: ${host.seccomp.reason}`);
  if (!host.notify.isAvailable) missing.push(`nobody can watch: ${host.notify.reason}`);
  return missing;
}

/** What failed says little; what this host lacks, as assay doctor finds it, says more. */
function explainFailure(message: string): readonly string[] {
  const missing = findMissing(probeFacts({ helper: helperPath() }).facts);
  return missing.length > 0 ? missing.slice(0, 1) : [message];
}

/** Sandboxes outlive calls, so none of them can say when a cgroup that gives nothing on is to be put back as it was. */
function withoutClaim(host: HostFacts): HostFacts {
  const reason = 'the cgroup that is delegated gives no controllers on';
  return host.cgroup.claimed ? { ...host, cgroup: { version: 0, reason } } : host;
}

/** Runs a program that does nothing, and learns from what fails, until it works or there is no way. */
export async function tryEngine(): Promise<Trial> {
  let host = withoutClaim(guessFacts());
  let resident: Resident;
  try {
    resident = await Resident.start(host);
  } catch (error) {
    return { isAvailable: false, reasons: explainFailure((error as Error).message) };
  }
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const missing = findMissing(host);
    if (missing.length > 0) {
      resident.close();
      return { isAvailable: false, reasons: missing };
    }
    const corrected = await tryOnce(resident, host);
    if (corrected === undefined) return { isAvailable: true, host, resident };
    if (typeof corrected === 'string') {
      resident.close();
      return { isAvailable: false, reasons: explainFailure(corrected) };
    }
    host = corrected;
  }
  resident.close();
  return { isAvailable: false, reasons: ['no set of layers works here'] };
}

/** Nothing when it works, better facts when they were wrong, or why it cannot work. */
async function tryOnce(
  resident: Resident,
  host: HostFacts,
): Promise<HostFacts | string | undefined> {
  const holder = new Holder(await resident.connect());
  try {
    const boundary = await Boundary.make({}, DEFAULT_LIMITS, host);
    const size = { workBytes: TRIAL_BYTES, workInodes: TRIAL_INODES };
    const workspace = { kind: 'own', host: '' } as const;
    await holder.setUp(
      encodeSetUp({ ...size, tmpBytes: TRIAL_BYTES, tmpInodes: TRIAL_INODES, workspace }),
      boundary.bytes,
    );
    const call = { argv: ['/bin/true'], env: [], cwd: '/', limits: DEFAULT_LIMITS };
    const reader = new ReportReader();
    await new Promise<void>((resolve) => {
      const end = (): void => resolve();
      holder.run(boundary.planCall(call).bytes, {
        onOutput: () => undefined,
        onReport: (lines) => reader.feed(lines),
        onDone: end,
        onLost: end,
      });
    });
    const report = reader.finish();
    if (report.end && !report.failed) return undefined;
    const { failed } = report;
    return (
      (await correctFacts(host, report)) ?? `${failed?.step}: ${failed?.what} (${failed?.errno})`
    );
  } catch (error) {
    return (error as Error).message;
  } finally {
    await holder.close();
  }
}
