import { areaOf } from '../../controls.ts';
import { makeProtectedPaths } from '../../protected-path.ts';
import { placeOfPath } from '../place.ts';
import {
  type BundleContext,
  type Check,
  type Detector,
  type EventPlace,
  type Report,
  type SeenEvent,
} from '../rule.ts';
import { findSecretPath } from '../secret-path.ts';
import {
  CONFIGURATION_TRIED,
  CONFIGURATION_WRITTEN,
  OUTSIDE_WRITTEN,
  SECRET_MISSED,
  SECRET_READ,
  SECRET_REFUSED,
} from './control-rules.ts';
import { EXEC_REFUSED, READ_REFUSED, WRITE_REFUSED } from './refusal-rules.ts';

const WRITE_OPS: ReadonlySet<string> = new Set([
  'write',
  'create',
  'truncate',
  'mkdir',
  'rmdir',
  'mknod',
  'symlink',
  'unlink',
  'rename',
  'rename-target',
  'link-target',
  'chmod',
  'chown',
  'utimes',
  'xattr',
  // what evidence makes of the last four
  'meta',
  'chmod+x',
  'chmod+s',
  // of a change
  'created',
  'modified',
  'removed',
]);
/** A directory runs nothing, and neither does a date. */
const HARMLESS_OPS: ReadonlySet<string> = new Set(['mkdir', 'rmdir', 'utimes', 'meta']);
/** Whoever gives a file another name can read it by that. */
const REACHING_OPS: ReadonlySet<string> = new Set(['read', 'access', 'link', 'rename']);
/** So many reads of secrets wait for the end, when it is known what the run has made itself. */
const MAX_SECRETS = 10_000;
const NOT_THERE: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR']);

/** One operation on one file. */
interface Touch {
  readonly op: string;
  readonly path: string;
  readonly outcome: string;
  readonly program: string;
  readonly refusedBy: string | undefined;
  readonly at: EventPlace;
}

export const FILES: Detector = {
  rules: [
    CONFIGURATION_WRITTEN,
    CONFIGURATION_TRIED,
    OUTSIDE_WRITTEN,
    SECRET_READ,
    SECRET_REFUSED,
    SECRET_MISSED,
    READ_REFUSED,
    WRITE_REFUSED,
    EXEC_REFUSED,
  ],
  makeCheck: (report, context) => new FileCheck(report, context),
};

class FileCheck implements Check {
  readonly #report: Report;
  readonly #isSandbox: boolean;
  readonly #protected = makeProtectedPaths();
  readonly #secrets: { readonly secret: string; readonly touch: Touch }[] = [];
  readonly #created = new Set<string>();

  constructor(report: Report, { isSandbox }: BundleContext) {
    this.#report = report;
    this.#isSandbox = isSandbox;
  }

  event({ fact, at }: SeenEvent): void {
    if (fact.kind === 'change') {
      if (fact.change === 'attributes' || fact.path.endsWith('/')) return;
      if (fact.change === 'created' && this.#created.size < MAX_SECRETS)
        if (findSecretPath(fact.path) !== undefined) this.#created.add(fact.path);
      this.#judge({
        op: fact.change,
        path: fact.path,
        outcome: 'ok',
        program: '',
        refusedBy: undefined,
        at,
      });
      return;
    }
    if (fact.kind !== 'file' && fact.kind !== 'folded') return;
    const op = fact.kind === 'folded' ? fact.op.replace(/^overflow /, '') : fact.op;
    if (op === 'connect' || op === 'bind' || op === 'resolve') return;
    const { path, target, program, refused_by: refusedBy } = fact;
    // The older format does not say how it ended: it records what happened.
    const outcome = !this.#isSandbox && fact.outcome === 'unknown' ? 'ok' : fact.outcome;
    const touch = { op, path, outcome, program, refusedBy, at };
    this.#judge(touch);
    if ((op === 'rename' || op === 'link') && target !== undefined)
      this.#judge({ ...touch, path: target, op: `${op}-target` });
  }

  /** What the run has made is no secret from it. */
  end(): void {
    for (const { secret, touch } of this.#secrets)
      if (!this.#created.has(touch.path)) this.#add(SECRET_READ, secret, 'read', touch);
  }

  #judge(touch: Touch): void {
    const { op, refusedBy } = touch;
    const isWrite = WRITE_OPS.has(op);
    const isSecret = this.#judgeSecret(touch);
    const isKnown = (isWrite && this.#judgeConfiguration(touch)) || isSecret;
    if (isWrite) this.#judgeOutside(touch);
    if (isKnown || refusedBy === undefined) return;
    if (op === 'read') this.#add(READ_REFUSED, areaOf(touch.path), 'read', touch);
    else if (op === 'exec') this.#add(EXEC_REFUSED, touch.path, 'exec', touch);
    else if (isWrite) this.#add(WRITE_REFUSED, areaOf(touch.path), 'write', touch);
  }

  /** Whether it is about a secret. */
  #judgeSecret(touch: Touch): boolean {
    const { op, path, outcome, refusedBy } = touch;
    if (!REACHING_OPS.has(op)) return false;
    const secret = findSecretPath(path);
    if (secret === undefined || placeOfPath(path, this.#isSandbox) === 'private') return false;
    if (outcome === 'ok' && this.#secrets.length < MAX_SECRETS)
      this.#secrets.push({ secret, touch });
    else if (outcome === 'ok') this.#add(SECRET_READ, secret, 'read', touch);
    else if (refusedBy !== undefined || !NOT_THERE.has(outcome))
      this.#add(SECRET_REFUSED, secret, 'read', touch);
    else this.#add(SECRET_MISSED, secret, 'read', touch);
    return true;
  }

  /** Whether it is about configuration that runs later. */
  #judgeConfiguration(touch: Touch): boolean {
    const { op, path, outcome, refusedBy } = touch;
    const isRefused = refusedBy !== undefined && CONFIGURATION_RULE.test(refusedBy);
    if (HARMLESS_OPS.has(op) && !isRefused) return false;
    const name = this.#protected.find(path);
    if (name === undefined && !isRefused) return false;
    if (placeOfPath(path, this.#isSandbox) === 'private' || isSampleHook(path)) return false;
    const rule = outcome === 'ok' ? CONFIGURATION_WRITTEN : CONFIGURATION_TRIED;
    this.#add(rule, name ?? areaOf(path), 'write', touch);
    return true;
  }

  #judgeOutside(touch: Touch): void {
    if (touch.outcome !== 'ok' || placeOfPath(touch.path, this.#isSandbox) !== 'outside') return;
    this.#add(OUTSIDE_WRITTEN, areaOf(touch.path), 'write', touch);
  }

  #add(rule: Parameters<Report>[0], place: string, op: string, touch: Touch): void {
    const { path, at } = touch;
    this.#report(rule, { place, op, subject: path, detail: describe(touch), at });
  }
}

const CONFIGURATION_RULE = /^(?:git-guard|configuration protection)\b/;

/** Git puts them into every new repository, and runs none of them. */
function isSampleHook(path: string): boolean {
  return /\/hooks\/[^/]+\.sample$/.test(path);
}

function describe({ op, outcome, program, refusedBy }: Touch): string {
  const by = program === '' || program === 'unknown' ? '' : ` by ${program}`;
  if (refusedBy !== undefined) {
    // What was refused and worked all the same was so in a dry run.
    const refused = outcome === 'ok' ? 'would be refused' : 'refused';
    const why = refusedBy === '' ? ', nothing allows it' : `: ${refusedBy}`;
    return `${op}${by}: ${outcome}, ${refused}${why}`;
  }
  return outcome === 'ok' ? `${op}${by}` : `${op}${by}: ${outcome}`;
}
