import { BACKEND_IDS, type BackendId, type BackendReport } from '../../backends/backend.ts';
import { loadBackend } from '../../backends/registry.ts';
import type { Sandbox } from '../../backends/sandbox.ts';
import { measureLatency, type Latency } from './latency.ts';

const PROBE_MS = 20_000;

export interface BackendSurvey {
  readonly id: BackendId;
  /** Missing where not even that could be found out. */
  readonly report?: BackendReport;
  readonly problem?: string;
  readonly latency?: Latency;
  readonly swept?: { readonly removed: readonly string[]; readonly problems: readonly string[] };
}

export interface SurveyOptions {
  readonly hasLatency: boolean;
  readonly isSwept: boolean;
  /** Before each measurement, which may take a few seconds. */
  readonly onMeasure: (id: BackendId) => void;
}

/** Asks every backend; measures one after the other, since they would slow each other down. */
export async function surveyBackends(options: SurveyOptions): Promise<BackendSurvey[]> {
  const found = await Promise.all(BACKEND_IDS.map((id) => survey(id, options)));
  if (!options.hasLatency) return found;
  const measured: BackendSurvey[] = [];
  for (const one of found) {
    if (one.report?.isAvailable) options.onMeasure(one.id);
    measured.push(await addLatency(one));
  }
  return measured;
}

async function survey(id: BackendId, { isSwept }: SurveyOptions): Promise<BackendSurvey> {
  try {
    const backend = await loadBackend(id);
    const report = await backend.probe({ signal: AbortSignal.timeout(PROBE_MS) });
    if (!isSwept || !report.isAvailable) return { id, report };
    return { id, report, swept: await backend.sweep() };
  } catch (error) {
    // Such as a library of its own that is not installed.
    return { id, problem: error instanceof Error ? error.message : String(error) };
  }
}

async function addLatency(one: BackendSurvey): Promise<BackendSurvey> {
  if (!one.report?.isAvailable) return one;
  const backend = await loadBackend(one.id);
  const create = (): Promise<Sandbox> => backend.create({});
  try {
    const latency = await measureLatency(create, one.report);
    return latency ? { ...one, latency } : one;
  } catch (error) {
    return { ...one, problem: error instanceof Error ? error.message : String(error) };
  }
}
