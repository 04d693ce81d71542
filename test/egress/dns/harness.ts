import { DnsFilter } from '../../../src/egress/dns/filter.ts';
import { FakeAddresses } from '../../../src/egress/dns/name-table.ts';
import type { QuestionFact } from '../../../src/egress/egress.ts';
import { makeResolver, type Resolver } from '../../../src/egress/resolver.ts';
import { makeEgressRules } from '../../../src/egress/rules.ts';
import type { NetRule } from '../../../src/policy/policy.ts';

export interface HarnessOptions {
  readonly allow: readonly string[];
  readonly deny?: readonly string[];
  /** Of names that exist outside; others do not. Without it every name does. */
  readonly world?: Readonly<Record<string, readonly string[]>>;
  readonly outside?: (name: string) => Promise<readonly string[]>;
  readonly maxNames?: number;
  readonly ownNames?: readonly string[];
}

export interface Harness {
  readonly filter: DnsFilter;
  readonly names: FakeAddresses;
  readonly resolver: Resolver;
  readonly facts: QuestionFact[];
  /** Names that the outside was asked for. */
  readonly asked: string[];
}

function toRule(effect: 'allow' | 'deny', text: string): NetRule {
  return { effect, text, origin: { source: 'policy.yaml:1:1', key: `net.${effect}`, text } };
}

export function missing(): Error {
  return Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
}

/** A filter with the real rules, and a world of its own behind it. */
export function makeHarness(options: HarnessOptions): Harness {
  const { allow, deny = [], world, maxNames } = options;
  const net = [...allow.map((t) => toRule('allow', t)), ...deny.map((t) => toRule('deny', t))];
  const clock = { now: () => 0, after: () => () => undefined };
  const rules = makeEgressRules({ policy: { net, inject: [] }, clock });
  const asked: string[] = [];
  const facts: QuestionFact[] = [];
  const outside = {
    lookup: async (name: string): Promise<readonly string[]> => {
      asked.push(name);
      if (options.outside) return await options.outside(name);
      const found = world ? world[name] : ['203.0.113.7', '2001:db8::7'];
      if (!found) throw missing();
      return found;
    },
    close: () => undefined,
  };
  const resolver = makeResolver({ rules, outside });
  const names = new FakeAddresses(maxNames);
  const log = { question: (fact: QuestionFact): void => void facts.push(fact) };
  const filter = new DnsFilter({
    rules,
    names,
    resolver,
    log,
    ownNames: options.ownNames,
    now: () => 42,
  });
  return { filter, names, resolver, facts, asked };
}
