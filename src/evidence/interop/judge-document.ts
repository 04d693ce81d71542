import { findJsonProblem } from '../../core/strict-json.ts';
import { CODING_AGENT_TYPE, judgeCodingAgent } from './coding-agent.ts';
import { HEALTH_SCHEMA, judgeEnforcementHealth } from './enforcement-health.ts';
import { type Judgement, MalformedDocument, malformed } from './judgement.ts';
import { type EventsOptions, judgeSandboxEvents } from './sandbox-events.ts';
import { isObject } from './shape.ts';

const LIMITS = { depth: 64, keys: 10_000, stringLength: 1_048_576 };

/** Finds out what a loose document is by what is in it, and judges it as that. */
export function judgeDocument(text: string, options: EventsOptions): Judgement {
  const problem = findJsonProblem(text, LIMITS);
  if (problem)
    return malformed(
      'unknown',
      `It is not JSON that all read alike: ${problem.message}, at character ${problem.offset + 1}`,
    );
  const value: unknown = JSON.parse(text);
  const kind = kindOf(value);
  try {
    if (kind === 'enforcement-health') return judgeEnforcementHealth(value, text);
    if (kind === 'sandbox-events') return judgeSandboxEvents(value, options);
    if (kind === 'coding-agent' && isObject(value)) return judgeCodingAgent(value);
  } catch (error) {
    if (error instanceof MalformedDocument) return malformed(kind, error.message);
    throw error;
  }
  return malformed(
    'unknown',
    `It is none of these: a list of sandbox events or an object with events; an event of type ${CODING_AGENT_TYPE}; an object with the schema ${HEALTH_SCHEMA}`,
  );
}

function kindOf(value: unknown): Judgement['kind'] {
  if (Array.isArray(value)) return 'sandbox-events';
  if (!isObject(value)) return 'unknown';
  if (typeof value['schema'] === 'string' && value['schema'].startsWith('assay.enforcement_health'))
    return 'enforcement-health';
  if (Object.hasOwn(value, 'events')) return 'sandbox-events';
  return Object.hasOwn(value, 'specversion') ? 'coding-agent' : 'unknown';
}
