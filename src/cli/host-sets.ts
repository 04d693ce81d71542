import { homedir } from 'node:os';
import {
  askCargo,
  askNpm,
  askPip,
  type RegistryAnswer,
  type RegistryInput,
} from '../host/registries.ts';
import { parseHost } from '../policy/host.ts';
import type { HostSet } from '../policy/net-sets.ts';
import { findHostSet, formatEntry } from '../policy/net-target.ts';
import type { NetRule } from '../policy/policy.ts';
import { PolicyError } from '../policy/problems.ts';

const TOOLS: Readonly<Record<HostSet, (input: RegistryInput) => RegistryAnswer>> = {
  npm: askNpm,
  pip: askPip,
  cargo: askCargo,
};

/** Asks the tools of this host for their registries. A set that stays empty is an error: the run would lack it. */
export function fillHostSets(
  net: readonly NetRule[],
  input: RegistryInput = { env: process.env, home: homedir() },
): NetRule[] {
  const found = new Map<HostSet, readonly string[]>();
  return net.map((rule) => {
    const set = findHostSet(rule.text);
    if (set === undefined) return rule;
    const entries = found.get(set) ?? askForEntries(set, rule, input);
    found.set(set, entries);
    return { ...rule, entries };
  });
}

function askForEntries(set: HostSet, { origin }: NetRule, input: RegistryInput): string[] {
  const answer = TOOLS[set](input);
  const entries = 'urls' in answer ? answer.urls.flatMap((url) => toEntry(url)) : [];
  if (entries.length > 0) return [...new Set(entries)].sort();
  const reason = 'reason' in answer ? answer.reason : 'its addresses cannot be read';
  throw new PolicyError([
    {
      message: `cannot tell what \`${set}\` stands for on this host: ${reason}`,
      hint: `name the hosts of the registry instead of \`${set}\``,
      at: origin.at,
    },
  ]);
}

/** The host and port of a URL; nothing of a local directory or of what is no URL. */
function toEntry(text: string): string[] {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return [];
  }
  const port = url.port === '' ? DEFAULT_PORTS[url.protocol] : Number(url.port);
  const host = parseHost(url.hostname.replace(/^\[(.*)\]$/, '$1'));
  return port === undefined || 'problem' in host ? [] : [formatEntry(host, port)];
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'https:': 443, 'http:': 80, 'ssh:': 22 };
