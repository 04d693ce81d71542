import { sha256Hex } from '../../core/digest.ts';

/** Made of the ids of the run and of the event, so that an export of the same bundle is always the same. */
export function traceIdOf(runId: string): string {
  return sha256Hex(runId).slice(0, 32);
}

export function spanIdOf(eventId: string): string {
  return sha256Hex(eventId).slice(0, 16);
}

/** W3C Trace Context, sampled. */
export function traceparentOf(runId: string, eventId: string): string {
  return `00-${traceIdOf(runId)}-${spanIdOf(eventId)}-01`;
}
