import type { HostFacts } from '../../host/facts.ts';
import type { HostProbe } from '../../host/probe-facts.ts';
import { findDegradations } from '../../plan/degradations.ts';
import { KNOWN_ABI } from '../../plan/landlock.ts';
import { type ActiveLayers, ALL_LAYERS, chooseLayers } from '../../plan/layers.ts';
import { planPlainNet } from '../../plan/net-plan.ts';
import type { Degradation, LayerReport } from '../../plan/plan.ts';
import { type Advice, giveAdvice } from './advice.ts';
import { listMeanings, type Meaning } from './meanings.ts';

/**
 * full: whatever a policy says about files, network and processes is enforced here.
 * degraded: some of it is not; `meanings` says what. none: nothing is.
 * Limits are no part of this: a soft one is stated as such and changes no status.
 */
export type DoctorStatus = 'full' | 'degraded' | 'none';

export interface DoctorLayer extends LayerReport {
  /** What the layer offers on this host, such as the Landlock ABI. */
  readonly detail: string;
}

/** `assay doctor --json` prints exactly this. Fields are added, never renamed. */
export interface DoctorReport {
  readonly schema: 'assay.doctor.v1';
  readonly version: string;
  readonly status: DoctorStatus;
  readonly kernel: string;
  readonly arch: string;
  readonly user: { readonly uid: number; readonly gid: number; readonly name: string };
  readonly landlockAbi: number;
  readonly layers: readonly DoctorLayer[];
  readonly meanings: readonly Meaning[];
  /** What every run with a writable workspace is told here before it starts. */
  readonly warnings: readonly Degradation[];
  readonly advice: readonly Advice[];
}

export interface ReportInput {
  readonly version: string;
  readonly userName: string;
  readonly probe: HostProbe;
}

function describeLayer(layer: LayerReport['layer'], facts: HostFacts): string {
  if (layer === 'landlock')
    return `ABI ${facts.landlockAbi}${facts.landlockAbi > KNOWN_ABI ? `, used as of ${KNOWN_ABI}` : ''}`;
  if (layer !== 'cgroup') return '';
  const { version, memory, pids, cpu } = facts.cgroup;
  const names = Object.entries({ memory, pids, cpu }).filter(
    ([, directory]) => directory !== undefined,
  );
  return `v${version}: ${names.map(([name]) => name).join(', ')}`;
}

/** A cgroup tree in which some limits cannot be set is half a layer. */
function judgeCgroup(report: LayerReport, { cgroup }: HostFacts): LayerReport {
  if (report.layer !== 'cgroup' || report.status !== 'enforced') return report;
  const missing = (['memory', 'pids'] as const).filter((name) => cgroup[name] === undefined);
  if (missing.length === 0) return report;
  return { ...report, status: 'partial', reason: `cannot limit ${missing.join(' and ')}` };
}

/** As the planner has it for a run, so that neither says what the other does not. */
function listWarnings(active: ActiveLayers): Degradation[] {
  const isAllowListKept = active.landlockAbi === 0;
  const needs = { conflicts: [], isAllowListKept };
  return findDegradations(planPlainNet({ active }), needs, active, true);
}

function chooseStatus(
  meanings: readonly Meaning[],
  warnings: readonly Degradation[],
): DoctorStatus {
  const boundary = meanings.filter(({ isLimit }) => !isLimit);
  if (boundary.every(({ status }) => status === 'enforced') && warnings.length === 0) return 'full';
  return boundary.some(({ status }) => status === 'enforced') ? 'degraded' : 'none';
}

export function makeDoctorReport({ version, userName, probe }: ReportInput): DoctorReport {
  const { facts } = probe;
  const active = chooseLayers(facts, ALL_LAYERS);
  const reports = active.reports.map((report) => judgeCgroup(report, facts));
  const meanings = listMeanings(active, facts);
  const warnings = listWarnings(active);
  return {
    schema: 'assay.doctor.v1',
    version,
    status: chooseStatus(meanings, warnings),
    kernel: facts.kernel,
    arch: facts.arch,
    user: { uid: facts.uid, gid: facts.gid, name: userName },
    landlockAbi: facts.landlockAbi,
    layers: reports.map((report) => ({
      ...report,
      detail: report.status === 'absent' ? '' : describeLayer(report.layer, facts),
    })),
    meanings,
    warnings,
    advice: giveAdvice(reports, probe),
  };
}

export const DOCTOR_EXIT: Readonly<Record<DoctorStatus, number>> = {
  full: 0,
  degraded: 1,
  none: 2,
};
