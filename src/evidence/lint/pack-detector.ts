import { canonicalJson } from '../../core/canonical-json.ts';
import type { BundleEvent } from '../bundle/bundle.ts';
import type { LintedPack } from './lint-result.ts';
import {
  ENGINE_VERSION,
  type Pack,
  type PackCheck,
  type PackRule,
  type PackValue,
} from './pack.ts';
import { readPointer } from './plain-data.ts';
import type { Check, Detector, EventPlace, RuleInfo, SeenEvent } from './rule.ts';
import { hasAuthorization } from './authorization.ts';
import { makeTypePattern } from './type-pattern.ts';
import { isOlder } from './version-order.ts';

export interface LoadedPack {
  readonly pack: Pack;
  readonly detector: Detector;
  readonly linted: LintedPack;
}

export function makePackDetector(pack: Pack): LoadedPack {
  const id = `${pack.name}@${pack.version}`;
  const judged = pack.rules.map((rule) => ({
    rule,
    info: makeInfo(rule, pack, id),
    problem: findProblem(rule),
  }));
  const skipped = judged.flatMap(({ rule, problem }) =>
    problem === undefined ? [] : [{ id: rule.id, reason: problem }],
  );
  const detector: Detector = {
    rules: judged.map(({ info }) => info),
    makeCheck(report, { manifest }) {
      const checks = judged.map(({ rule, info, problem }): Check => {
        const fail: Fail = (message, rest) =>
          report(info, { place: '', op: '', subject: '', message, ...rest });
        // What cannot be checked must not pass for compliance; elsewhere it is left out, and listed.
        if (problem !== undefined)
          return pack.kind === 'compliance'
            ? { end: () => fail(`Cannot be checked: ${problem}`) }
            : {};
        return scope(rule, makeCheck(rule.check, { fail, manifest, info }));
      });
      return {
        event: (seen) => checks.forEach((check) => check.event?.(seen)),
        end: () => checks.forEach((check) => check.end?.()),
      };
    },
  };
  const { disclaimer } = pack;
  return { pack, detector, linted: { id, rules: detector.rules, disclaimer, skipped } };
}

function makeInfo(rule: PackRule, { kind }: Pack, id: string): RuleInfo {
  return {
    id: `${id}:${rule.id}`,
    pack: id,
    area: kind,
    severity: rule.severity,
    title: rule.description,
    explanation: rule.help_markdown ?? rule.description,
    fix: '',
    reference: rule.article_ref,
  };
}

function findProblem({ check, engine_min_version: version }: PackRule): string | undefined {
  if (version !== undefined && isOlder(ENGINE_VERSION, version))
    return `it needs version ${version} of the check language, and this is ${ENGINE_VERSION}`;
  return check.type === 'unsupported' ? `the check ${check.name} is not known` : undefined;
}

type Fail = (
  message: string,
  rest?: { readonly at?: EventPlace; readonly severity?: 'warning' },
) => void;

interface CheckContext {
  readonly fail: Fail;
  readonly manifest: unknown;
  readonly info: RuleInfo;
}

function scope({ event_types: types }: PackRule, check: Check): Check {
  if (types === undefined) return check;
  const wanted = new Set(types);
  return { ...check, event: (seen) => wanted.has(seen.event.type) && check.event?.(seen) };
}

function makeCheck(check: PackCheck, { fail, manifest }: CheckContext): Check {
  switch (check.type) {
    case 'event_count': {
      let count = 0;
      return {
        event: () => void count++,
        end: () =>
          count < check.min && fail(`There are ${count} events; at least ${check.min} are wanted`),
      };
    }
    case 'event_pairs':
      return checkAll(
        [check.start_pattern, check.finish_pattern].map((pattern) => ({
          isMet: makeTest(pattern),
          missing: `No event has a type like ${pattern}`,
        })),
        fail,
      );
    case 'event_type_exists':
      return checkAll(
        [{ isMet: makeTest(check.pattern), missing: `No event has a type like ${check.pattern}` }],
        fail,
      );
    case 'event_field_present':
      return checkAll(
        [
          {
            isMet: (event) => check.paths.some((path) => readPointer(event, path) !== undefined),
            missing: `No event has any of ${check.paths.join(', ')}`,
          },
        ],
        fail,
      );
    case 'json_path_exists':
      return checkAll([checkPath(check)], fail);
    case 'g3_authorization_context_present':
      return checkAll(
        [
          {
            isMet: hasAuthorization,
            missing:
              'No tool decision says who acted (principal), how that was known (auth_scheme) and who vouches for it (auth_issuer)',
          },
        ],
        fail,
      );
    case 'manifest_field':
      return {
        end() {
          if (readPointer(manifest, check.path)) return;
          fail(`The manifest has no ${check.path}`, check.required ? {} : { severity: 'warning' });
        },
      };
    case 'conditional':
      return checkCondition(check, fail);
    default:
      return {};
  }
}

interface Need {
  isMet(event: BundleEvent): boolean;
  readonly missing: string;
}

/** Each has to be met by some event. */
function checkAll(needs: readonly Need[], fail: Fail): Check {
  const open = new Set(needs);
  return {
    event({ event }: SeenEvent) {
      for (const need of open) if (need.isMet(event)) open.delete(need);
    },
    end() {
      if (open.size > 0) fail([...open].map(({ missing }) => missing).join('; '));
    },
  };
}

function makeTest(pattern: string): (event: BundleEvent) => boolean {
  const isMatch = makeTypePattern(pattern);
  // A pattern that is wrong does not load.
  return typeof isMatch === 'function' ? ({ type }) => isMatch(type) : () => false;
}

function checkPath(check: PackCheck & { readonly type: 'json_path_exists' }): Need {
  const { paths, value_equals: wanted } = check;
  const isFound = (event: BundleEvent, path: string): boolean => {
    const found = readPointer(event, path);
    return found !== undefined && (wanted === undefined || isEqual(found.value, wanted.value));
  };
  return {
    isMet: (event) => paths.some((path) => isFound(event, path)),
    missing:
      wanted === undefined
        ? `No event has ${paths.join(' or ')}`
        : `No event has ${paths.join(' or ')} equal to ${JSON.stringify(wanted.value)}`,
  };
}

function checkCondition(check: PackCheck & { readonly type: 'conditional' }, fail: Fail): Check {
  let matched = 0;
  let missing = 0;
  let first: EventPlace | undefined;
  return {
    event({ event, at }) {
      if (!check.all.every((clause) => isMet(event, clause))) return;
      matched++;
      if (readPointer(event, check.path)) return;
      missing++;
      first ??= at;
    },
    end() {
      if (first !== undefined)
        fail(`${missing} of ${matched} events that meet the condition have no ${check.path}`, {
          at: first,
        });
    },
  };
}

function isMet(
  event: BundleEvent,
  { path, equals }: { readonly path: string; readonly equals: PackValue },
): boolean {
  const found = readPointer(event, path);
  return found !== undefined && isEqual(found.value, equals.value);
}

function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  const areObjects = typeof a === 'object' && typeof b === 'object' && a !== null && b !== null;
  return areObjects && canonicalJson(a) === canonicalJson(b);
}
