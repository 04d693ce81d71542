import { canonicalJson } from '../../core/canonical-json.ts';

/** One line of a policy: an entry of a list, or a single value. */
export interface PolicyRule {
  /** Where it stands, such as `fs.read`. */
  readonly key: string;
  /** Of a list: the entry. Each is there or not. */
  readonly entry?: string | undefined;
  /** Of anything else: what it is set to. */
  readonly value?: string | undefined;
  /** What it does, as far as it says so: `allow`, `deny`, `protect`, … */
  readonly effect: string;
}

const REFUSING = /(?:^|\.)(?:deny|protect|config|remove|strip)$/;
const ALLOWING = /(?:^|\.)(?:allow|read|write|exec|unix|connect|listen|toolchain)$/;

/** A policy as lines that can be compared one by one, whatever its keys are. */
export function listPolicyRules(policy: unknown, key = ''): PolicyRule[] {
  if (Array.isArray(policy)) return policy.map((entry: unknown) => readEntry(key, entry));
  if (typeof policy !== 'object' || policy === null)
    return [{ key, value: typeof policy === 'string' ? policy : String(policy), effect: 'set' }];
  return Object.entries(policy)
    .filter(([, value]) => value !== undefined)
    .flatMap(([name, value]) => listPolicyRules(value, key === '' ? name : `${key}.${name}`));
}

function readEntry(key: string, entry: unknown): PolicyRule {
  if (typeof entry === 'string') return { key, entry, effect: effectOfKey(key) };
  const rule = (entry ?? {}) as Readonly<Record<string, unknown>>;
  const { effect, rights, pattern, text } = rule;
  const shown = [pattern, text].find((part) => typeof part === 'string');
  if (typeof effect !== 'string' || shown === undefined)
    return { key, entry: canonicalJson(entry), effect: effectOfKey(key) };
  const what = Array.isArray(rights) ? ` (${rights.map(String).join(', ')})` : '';
  // As the policy file calls it, such as fs.deny, where it says so.
  const own = typeof rule['key'] === 'string' ? rule['key'] : `${key}.${effect}`;
  return { key: own, entry: `${String(shown)}${what}`, effect };
}

function effectOfKey(key: string): string {
  if (REFUSING.test(key)) return 'deny';
  return ALLOWING.test(key) ? 'allow' : 'set';
}
