import { canonicalJson } from '../../core/canonical-json.ts';
import type { BundleEvent, BundleManifest } from '../bundle/bundle.ts';
import { EVENT_TYPES, type LineData } from '../bundle/event-data.ts';
import type { Fact } from '../bundle/facts.ts';
import { parseEndpoint } from '../claims/endpoint.ts';
import { isAddress } from '../export/endpoint.ts';

/** Vetted by in-toto: spec/predicates/runtime-trace.md of its attestation repository. */
export const RUNTIME_TRACE_TYPE = 'https://in-toto.io/attestation/runtime-trace/v0.1';

const MONITOR_TYPE = 'urn:assay:monitor:sandbox/v1';
const PROCESS_TYPE = 'urn:assay:process:sandboxed-command/v1';
/** A bundle does not tell on which machine it was made. */
const HOST_ID = 'urn:assay:host:not-recorded';

/** Of each list, in bytes of JSON: a statement is read as a whole, and may not grow with the run. */
const LIST_BYTES = 192 * 1024;

/** The start of a list, and how long it would have been. */
class BoundedList {
  readonly listed: unknown[] = [];
  #bytes = 0;
  #total = 0;

  add(entry: Record<string, unknown>): void {
    this.#total += 1;
    if (this.listed.length < this.#total - 1) return;
    this.#bytes += canonicalJson(entry).length + 1;
    if (this.#bytes <= LIST_BYTES) this.listed.push(entry);
  }

  get omitted(): number {
    return this.#total - this.listed.length;
  }
}

/** Collects the predicate while the events of a bundle go by. */
export class RuntimeTrace {
  readonly #programs = new BoundedList();
  readonly #network = new BoundedList();
  readonly #changes = new BoundedList();
  readonly #reads = new BoundedList();
  #startedOn: string | undefined;
  #finishedOn: string | undefined;

  add(event: BundleEvent, fact: Fact): void {
    if (event.type === EVENT_TYPES.started) this.#startedOn = event.time;
    if (event.type === EVENT_TYPES.finished) this.#finishedOn = event.time;
    if (fact.kind === 'program') this.#programs.add(describeProgram(fact, event.data));
    else if (fact.kind === 'network') this.#network.add(describeConnection(fact));
    else if (fact.kind === 'file')
      (fact.op === 'read' || fact.op === 'exec' ? this.#reads : this.#changes).add(
        describeFile(fact),
      );
  }

  toPredicate({ run_id: runId, sandbox }: BundleManifest): Record<string, unknown> {
    return {
      monitor: {
        type: MONITOR_TYPE,
        ...(sandbox && {
          configSource: {
            name: sandbox.policy.name,
            digest: { sha256: sandbox.policy.digest.replace(/^sha256:/, '') },
          },
          tracePolicy: {
            mode: sandbox.mode,
            level: sandbox.level,
            coverage: { ...sandbox.coverage },
          },
        }),
      },
      monitoredProcess: { hostID: HOST_ID, type: PROCESS_TYPE, event: runId },
      monitorLog: {
        process: this.#programs.listed,
        network: this.#network.listed,
        fileAccess: [...this.#changes.listed, ...this.#reads.listed],
        // Not of in-toto: how many entries each list would have beyond these.
        assay_omitted: {
          process: this.#programs.omitted,
          network: this.#network.omitted,
          fileAccess: this.#changes.omitted + this.#reads.omitted,
        },
      },
      metadata: {
        ...(this.#startedOn !== undefined && { buildStartedOn: this.#startedOn }),
        ...(this.#finishedOn !== undefined && { buildFinishedOn: this.#finishedOn }),
      },
    };
  }
}

function describeProgram(line: LineData, data: unknown): Record<string, unknown> {
  const { image_digests: digests } = (data ?? {}) as { readonly image_digests?: unknown };
  return {
    eventType: 'process',
    processBinary: line.path,
    parentBinary: line.program,
    ...(line.target !== undefined && { script: line.target }),
    ...(Array.isArray(digests) && {
      digests: digests.map((digest) => ({ sha256: String(digest).replace(/^sha256:/, '') })),
    }),
  };
}

function describeConnection(line: LineData): Record<string, unknown> {
  const { family, host, port } = parseEndpoint(line.path);
  const isInternet = family === 'tcp' || family === 'udp';
  const named = isAddress(host) ? { ip: host } : { host };
  return {
    ...(isInternet ? { ...named, protocol: family } : { endpoint: line.path }),
    ...(port !== undefined && { port }),
    ...describeAttempt(line),
    invokingProcess: { image: line.program },
  };
}

function describeFile(line: LineData): Record<string, unknown> {
  return {
    name: line.path,
    annotations: {
      ...describeAttempt(line),
      program: line.program,
      ...(line.target !== undefined && { target: line.target }),
    },
  };
}

function describeAttempt({ op, outcome, refused_by: rule }: LineData): Record<string, unknown> {
  return { op, outcome, ...(rule !== undefined && { refusedBy: rule }) };
}
