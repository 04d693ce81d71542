import { serveDns } from './dns/serve-dns.ts';
import type { Doors, DoorService } from './doors.ts';
import type { EgressLog, NameTable } from './egress.ts';
import type { Resolver } from './resolver.ts';
import type { LiveRules } from './rules.ts';
import { serveDoors } from './serve-doors.ts';

export interface EgressInput {
  readonly rules: LiveRules;
  readonly names: NameTable;
  readonly resolver: Resolver;
  readonly log: EgressLog;
  /** Names of this machine, which lead nowhere but to the loopback inside. */
  readonly ownNames?: readonly string[] | undefined;
  /** As it stands in the facts. */
  readonly now: () => number;
}

/** Everything behind the doors of one run. Owns what it is given. */
export function serveEgress(doors: Doors, input: EgressInput): DoorService {
  const { resolver, rules } = input;
  const dns = serveDns(doors, input);
  const connections = serveDoors(doors, {
    ...input,
    lookup: async (name) => await lookupOrThrow(resolver, name),
    doubt: (name) => resolver.doubt(name),
  });
  return {
    close: async () => {
      dns.close();
      resolver.close();
      rules.close();
      await connections.close();
    },
  };
}

/** As dialers want it: addresses, or an error with a code or a refusal. */
async function lookupOrThrow(resolver: Resolver, name: string): Promise<readonly string[]> {
  const found = await resolver.lookup(name);
  if (found.kind === 'found') return found.addresses;
  const failure =
    found.kind === 'refused'
      ? { code: 'EACCES', refusal: found.verdict }
      : { code: found.kind === 'missing' ? 'ENOTFOUND' : found.code };
  throw Object.assign(new Error(`${name} has no address for us`), failure);
}
