import type { Host } from '../policy/host.ts';
import type { CompiledRule } from '../policy/net-rules.ts';
import { matchesTarget, type NetTarget } from '../policy/net-target.ts';
import type { HttpRules, NetRule } from '../policy/policy.ts';
import type { SeenRequest, Verdict } from './egress.ts';
import type { Field } from './http-head.ts';

type HttpRule = NetRule & { readonly http: HttpRules };

/**
 * The rules that say what requests to this host may be. Of several entries that allow the host the one that names it most
 * closely speaks; when a plain entry names it as closely, every request is allowed.
 */
export function findHttpRules(
  rules: readonly CompiledRule[],
  host: Host,
  port: number,
): readonly HttpRule[] {
  let closest = -1;
  let found: NetRule[] = [];
  for (const { rule, targets } of rules) {
    if (rule.effect !== 'allow') continue;
    const ranks = targets.filter((one) => matchesTarget(one, host, port)).map(rankTarget);
    const rank = Math.max(-1, ...ranks);
    if (rank > closest) found = [];
    closest = Math.max(closest, rank);
    if (rank >= 0 && rank === closest) found.push(rule);
  }
  return found.every(hasHttp) ? found : [];
}

/** By these, servers and frameworks take a request for one of another method or path. */
const OVERRIDES = new Set([
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
  'x-original-url',
  'x-rewrite-url',
]);

/** The first such field; with `_` for `-`, too, which programs behind a server do not tell apart. */
export function findOverride(fields: readonly Field[]): string | undefined {
  return fields.find(([name]) => OVERRIDES.has(name.toLowerCase().replaceAll('_', '-')))?.[0];
}

/** Undefined when nothing is said against it. */
export function decideHttp(
  rules: readonly HttpRule[],
  { method, path, override }: SeenRequest,
  describe: (rule: NetRule) => string,
): Verdict | undefined {
  const [first] = rules;
  if (!first) return undefined;
  if (override !== undefined) {
    const reason = `${override} asks for another request than the one that is seen`;
    return { isAllowed: false, rule: describe(first), reason };
  }
  const allowed = rules.find(({ http }) => allowsMethod(http, method) && allowsPath(http, path));
  if (allowed) return { isAllowed: true, rule: describe(allowed) };
  const isMethod = rules.some(({ http }) => allowsMethod(http, method));
  const isOdd = isMethod && !isPlainPath(path);
  const reason = isOdd
    ? 'the path can be read in more than one way'
    : isMethod
      ? 'no entry for this host allows the path'
      : 'no entry for this host allows the method';
  return { isAllowed: false, rule: describe(first), reason };
}

function hasHttp(rule: NetRule): rule is HttpRule {
  return rule.http !== undefined;
}

/** A name before every wildcard, a longer wildcard before a shorter one; a port makes it closer. */
function rankTarget(target: NetTarget): number {
  const port = target.ports ? 0.5 : 0;
  if (target.kind === 'host') return (target.isWild ? target.name.length : 1000) + port;
  return (target.kind === 'ip' ? 1 + target.range.prefix : 0) + port;
}

/** Methods are case-sensitive (RFC 9110). */
function allowsMethod({ methods }: HttpRules, method: string): boolean {
  return !methods || methods.includes(method);
}

function allowsPath({ paths }: HttpRules, path: string): boolean {
  if (!paths) return true;
  if (!isPlainPath(path)) return false;
  const [bare = ''] = path.split('?', 1);
  return paths.some((prefix) => {
    const base = prefix.replace(/\/+$/, '');
    return bare === base || bare === prefix || bare.startsWith(`${base}/`);
  });
}

const MAX_PATH = 16_384;

/**
 * No server must take the path for another one: no `..` however it is written, no encoded slash, no backslash, no empty
 * segment, nothing that is encoded twice.
 */
function isPlainPath(path: string): boolean {
  if (path.length > MAX_PATH || !path.startsWith('/')) return false;
  if (!/^[!-~]+$/.test(path) || path.includes('#')) return false;
  const [bare = ''] = path.split('?', 1);
  if (/%(?![0-9A-Fa-f]{2})|%(?:2f|5c|25|00)|\\|\/\//i.test(bare)) return false;
  return bare.split('/').every((segment) => {
    const [name = ''] = segment.replaceAll(/%2e/gi, '.').split(/;|%3b/i, 1);
    return name !== '.' && name !== '..';
  });
}
