import type { BundleEvent } from '../bundle/bundle.ts';
import { EVENT_TYPES, type LineData, type StartedData } from '../bundle/event-data.ts';
import { type Fact, toFact } from '../bundle/facts.ts';
import { isLoopbackHost, isUnspecifiedHost, parseEndpoint } from './endpoint.ts';
import { isOutsideWorkspace } from './write-place.ts';

/** What speaks against a requirement: so many facts, the first few in words. */
export interface Finding {
  readonly count: number;
  readonly examples: readonly string[];
}

export type FindingKind = 'egress' | 'denials' | 'writes-outside';

const EXAMPLES = 3;

/** Failures that come from this machine, before anything is sent. */
const LOCAL_FAILURES: ReadonlySet<string> = new Set([
  'EACCES',
  'EPERM',
  'EADDRNOTAVAIL',
  'EAFNOSUPPORT',
  'EINVAL',
  'ENETDOWN',
  'ENOENT',
  'ENOTDIR',
  'EPROTONOSUPPORT',
]);

/** The name of an error. Everything else, such as `unknown` or `*` for any outcome, may have been a success. */
const FAILURE = /^E[A-Z0-9]+$/;

/** Operations on files that change nothing. */
const QUIET_OPS: ReadonlySet<string> = new Set([
  'read',
  'exec',
  'run',
  'connect',
  'bind',
  'resolve',
]);
/** Before the operation, where many of them are told as one. */
const FOLDED = /^overflow /;
/** Only these have a path as their target. */
const TWO_ENDED_OPS: ReadonlySet<string> = new Set(['rename', 'link']);

/** Netlink speaks with the kernel of this machine only. */
const NETLINK = '16';

type LineKind = 'file' | 'program' | 'network' | 'limit' | 'folded';

const LINE_TYPES: ReadonlyMap<string, LineKind> = new Map([
  [EVENT_TYPES.fs, 'file'],
  [EVENT_TYPES.exec, 'program'],
  [EVENT_TYPES.net, 'network'],
  [EVENT_TYPES.limit, 'limit'],
  [EVENT_TYPES.folded, 'folded'],
]);

/** Collects what speaks against the requirements while events go by, in bounded memory. */
export class Findings {
  readonly #found = new Map<FindingKind, { count: number; examples: string[] }>();
  /** A network of its own: its loopback is its own as well. */
  #isPrivate = false;
  #isDryRun = true;
  /** Paths are in their general form: only then it is known where the workspace is. */
  #isGeneral = false;

  add(event: BundleEvent): void {
    const { type, data } = event;
    // Most events are lines of ours, which need no translation.
    const kind = LINE_TYPES.get(type);
    if (kind !== undefined && isLine(data)) this.#addLine(kind, data);
    else if (type === EVENT_TYPES.started) this.#start((data ?? {}) as Partial<StartedData>);
    else this.#addFact(toFact(event));
  }

  get(kind: FindingKind): Finding {
    return this.#found.get(kind) ?? { count: 0, examples: [] };
  }

  #start({ network, mode, identity }: Partial<StartedData>): void {
    this.#isGeneral = identity !== undefined;
    this.#isDryRun = mode !== 'containment';
    this.#isPrivate = network === 'private';
  }

  #addFact(fact: Fact): void {
    if (fact.kind === 'file' || fact.kind === 'network' || fact.kind === 'program')
      this.#addLine(fact.kind, fact);
    else if (fact.kind === 'change' && this.#isGeneral)
      if (isOutsideWorkspace(fact.path.replace(/\/$/, '')))
        this.#note('writes-outside', `${fact.change} ${fact.path}`);
  }

  #addLine(kind: LineKind, line: LineData): void {
    if (line.refused_by !== undefined) this.#note('denials', `${line.op} ${line.path}`);
    if (kind === 'network') {
      if (this.#isEgress(line)) this.#note('egress', `${line.op} ${line.path}`);
    } else if (kind !== 'program' && this.#isGeneral && isWriteOutside(line))
      this.#note('writes-outside', `${line.op} ${line.path}`);
  }

  #note(kind: FindingKind, text: string): void {
    const found = this.#found.get(kind) ?? { count: 0, examples: [] };
    found.count += 1;
    if (found.examples.length < EXAMPLES) found.examples.push(text);
    this.#found.set(kind, found);
  }

  /** What may have left the run: also a connection that the other side refused, since that was asked. */
  #isEgress({ op, path, outcome, refused_by: rule }: LineData): boolean {
    if (this.#isKeptInside(outcome, rule !== undefined)) return false;
    const { family, host } = parseEndpoint(path);
    if (family === NETLINK) return false;
    // A socket of the machine may pass on whatever it is told. An abstract one is the run's own in its own network.
    if (family === 'unix' && host.startsWith('@')) return op === 'connect' && !this.#isPrivate;
    if (family === 'unix') return op === 'connect' && isOutsideTmp(host);
    // Who listens in a network of its own hears nobody from outside; on the host's loopback, a proxy may listen.
    if (op === 'bind') return !this.#isPrivate && !isLoopbackHost(host);
    return !this.#isPrivate || !(isLoopbackHost(host) || isUnspecifiedHost(host));
  }

  #isKeptInside(outcome: string, isRefused: boolean): boolean {
    if (LOCAL_FAILURES.has(outcome)) return true;
    if (!FAILURE.test(outcome)) return false;
    if (isRefused && !this.#isDryRun) return true;
    // A network of its own has no way there; on the host's, a router may have answered so.
    return outcome === 'ENETUNREACH' && this.#isPrivate;
  }
}

function isLine(data: unknown): data is LineData {
  if (typeof data !== 'object' || data === null) return false;
  const { op, path, outcome } = data as Readonly<Record<string, unknown>>;
  return typeof op === 'string' && typeof path === 'string' && typeof outcome === 'string';
}

function isOutsideTmp(path: string): boolean {
  return !path.startsWith('${TMPDIR}/') || path.split('/').includes('..');
}

function isWriteOutside({ op, path, target, outcome }: LineData): boolean {
  if (QUIET_OPS.has(op.replace(FOLDED, '')) || FAILURE.test(outcome)) return false;
  if (isOutsideWorkspace(path)) return true;
  return TWO_ENDED_OPS.has(op) && target !== undefined && isOutsideWorkspace(target);
}
