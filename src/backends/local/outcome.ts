import { decodeName, spellName } from '../../core/name-bytes.ts';
import { constants } from 'node:os';
import type { HelperReport } from '../../launch/report.ts';
import { describeErrno, nameErrno } from '../../launch/errno.ts';
import { findBrokerRule, FOREIGN_SOCKET } from '../../plan/broker.ts';
import type { Plan } from '../../plan/make-plan.ts';
import type { LimitName } from '../backend.ts';
import { SandboxError } from '../sandbox-error.ts';
import type { Denial, Outcome } from '../sandbox.ts';
import type { SandboxLimits } from '../spec.ts';
import type { CallDone } from './holder.ts';

/** What a call came to, as far as it is known. */
export interface CallEnd {
  readonly report: HelperReport;
  readonly done: CallDone;
  readonly limits: SandboxLimits;
  readonly program: string;
  readonly isAborted: boolean;
  /** In the cgroups of the sandbox, during the call. */
  readonly killed: number;
  readonly refusedPids: number;
  readonly hasDropped: boolean;
  readonly isWorkspaceOwn: boolean;
}

const SOFT_LIMITS: Readonly<Record<string, LimitName>> = {
  cpu: 'cpuMs',
  memory: 'memoryBytes',
  disk: 'diskBytes',
  pids: 'pids',
};
/** Signals by which the kernel says that a limit was passed. */
const LIMIT_SIGNALS: Readonly<Record<string, LimitName>> = {
  SIGXCPU: 'cpuMs',
  SIGXFSZ: 'diskBytes',
};

function nameSignal(number: number): NodeJS.Signals {
  const found = Object.entries(constants.signals).find(([, value]) => value === number);
  return (found?.[0] ?? 'SIGKILL') as NodeJS.Signals;
}

function refuse(program: string, errno: number): Outcome {
  const isMissing = ['ENOENT', 'ENOTDIR'].includes(nameErrno(errno) ?? '');
  const denial: Denial = {
    action: 'exec',
    target: spellName(program),
    ...(isMissing
      ? { hint: `There is no program ${program} in the sandbox` }
      : { rule: describeErrno(errno) }),
  };
  return { kind: 'refused', denial };
}

/** Throws when neither the program nor a limit has ended the call. */
export function settleOutcome(end: CallEnd): Outcome {
  const { report, limits } = end;
  const stop = (limit: LimitName): Outcome => ({ kind: 'limit', limit, value: limits[limit] ?? 0 });
  const isBroken = report.failed !== undefined || !report.end;
  if (end.isAborted && !report.end?.timedOut) return { kind: 'aborted' };
  if (isBroken) {
    // The kernel may have chosen the keeper, and with it everything else went.
    if (end.killed > 0) return stop('memoryBytes');
    throw describeBreak(report);
  }
  if (report.execErrno !== undefined) return refuse(end.program, report.execErrno);
  const { timedOut, limit, signal, code } = report.end;
  if (timedOut) return { kind: 'timeout', limitMs: limits.wallMs ?? 0 };
  const soft = SOFT_LIMITS[limit];
  if (soft) return stop(soft);
  if (signal === 0) return { kind: 'exited', exitCode: code };
  const name = nameSignal(signal);
  if (end.killed > 0 && name === 'SIGKILL') return stop('memoryBytes');
  const cut = LIMIT_SIGNALS[name];
  if (cut && limits[cut] !== undefined) return stop(cut);
  return { kind: 'signaled', signal: name };
}

function describeBreak({ failed, hasRecord }: HelperReport): SandboxError {
  const code = hasRecord ? 'engine_failed' : 'start_failed';
  if (!failed) return new SandboxError(code, 'The helper ended without saying how the call went');
  const why = failed.errno ? `: ${describeErrno(failed.errno)}` : '';
  return new SandboxError(code, `Cannot run in the sandbox: ${failed.step}: ${failed.what}${why}`);
}

/** Limits that were reached, also where the program went on. */
export function findReached(end: CallEnd, outcome: Outcome): LimitName[] {
  const { free } = end.done;
  const reached = new Set<LimitName>(outcome.kind === 'limit' ? [outcome.limit] : []);
  if (outcome.kind === 'timeout') reached.add('wallMs');
  if (end.hasDropped) reached.add('outputBytes');
  const { memoryBytes = Number.POSITIVE_INFINITY } = end.limits;
  const peakBytes = (end.report.usage?.maxRssKb ?? 0) * 1024;
  if (end.killed > 0 || peakBytes > memoryBytes) reached.add('memoryBytes');
  if (end.refusedPids > 0 || end.report.reachedPids) reached.add('pids');
  if (free.tmpBlocks === 0n || (end.isWorkspaceOwn && free.workBlocks === 0n))
    reached.add('diskBytes');
  if (free.tmpInodes === 0n || (end.isWorkspaceOwn && free.workInodes === 0n))
    reached.add('inodes');
  return [...reached];
}

const ACTIONS: Readonly<Record<string, Denial['action']>> = {
  read: 'fs.read',
  exec: 'exec',
  connect: 'net.connect',
  bind: 'net.connect',
};

/** Of what is no matter of rules. */
const NAMED: Readonly<Record<number, string>> = { [FOREIGN_SOCKET.id]: FOREIGN_SOCKET.rule };

/** Of what is refused since nothing allows it. */
const UNNAMED: Readonly<Partial<Record<Denial['action'], string>>> = {
  'fs.write': 'only /workspace and /tmp are writable',
  'net.connect': 'no rule of network.allow names it',
};

/** What the boundary refused, once each. Of the network, as its rules name it. */
export function toDenials(report: HelperReport, plan: Plan): Denial[] {
  const denials = new Map<string, Denial>();
  for (const { op, path, rule } of report.refusals) {
    const action = ACTIONS[op] ?? 'fs.write';
    const found = findBrokerRule(plan.launch.brokerRules, rule);
    const target = action === 'net.connect' ? path.replace(/^tcp:/, '') : decodeName(path);
    const denial: Denial = {
      action,
      target,
      rule: found ? `${found.origin.key}: ${found.origin.text}` : (NAMED[rule] ?? UNNAMED[action]),
    };
    denials.set(`${action} ${target}`, denial);
  }
  return [...denials.values()];
}
