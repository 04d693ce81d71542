import { canonicalJson } from '../../core/canonical-json.ts';
import { sha256Hex } from '../../core/digest.ts';
import { type Judgement, MalformedDocument } from './judgement.ts';
import { type JsonObject, Shape } from './shape.ts';

export const CODING_AGENT_TYPE = 'assay.coding_agent.evidence_pack.v0';

const COVERAGE = ['observed', 'unavailable', 'self_reported', 'absent', 'partial'] as const;
const SURFACES = ['files', 'commands', 'network', 'mcp_tools', 'test'] as const;
const SOURCES = [
  'boundary_observed',
  'independently_observed',
  'third_party_observed',
  'producer_reported',
  'issuer_attested',
  'receiver_receipt',
] as const;
const CONTENT_HASH = /^sha256:[0-9a-f]{64}$/;

/** One event that says what an agent was meant to do and what it did. It is reviewed, never a gate. */
export function judgeCodingAgent(event: JsonObject): Judgement {
  const envelope = new Shape(event, '');
  envelope.oneOf('type', [CODING_AGENT_TYPE]);
  envelope.oneOf('specversion', ['1.0']);
  const hash = envelope.text('assaycontenthash');
  if (!CONTENT_HASH.test(hash))
    throw new MalformedDocument('assaycontenthash is not sha256: and 64 digits');
  const data = envelope.object('data');
  const scope = readScope(data.object('declared_scope'));
  const effects = readEffects(data.object('observed_effects'));
  const covered = data.object('coverage');
  const coverage = Object.fromEntries(
    SURFACES.map((surface) => [surface, covered.oneOf(surface, COVERAGE)]),
  );
  const source = data.oneOf('source_class', SOURCES);
  data.texts('non_claims');

  const outOfScope = {
    files: listOutside(effects.files, scope.files, isSame),
    commands: listOutside(effects.commands, scope.commands, isSameCommand),
    tools: listOutside(effects.tools, scope.tools, isSame),
  };
  const isNetworkSurprise = scope.network === 'denied' && effects.network.length > 0;
  const gaps = SURFACES.filter((surface) => coverage[surface] !== 'observed');
  const isHashRight = hash === computeContentHash(event);
  return {
    kind: 'coding-agent',
    verdict: 'pass',
    reason: 'The envelope is well formed; what it says is for a person to judge',
    signals: [
      ...describe('File out of scope', outOfScope.files),
      ...describe('Command out of scope', outOfScope.commands),
      ...describe('Tool out of scope', outOfScope.tools),
      ...(isNetworkSurprise ? describe('Network although denied', effects.network) : []),
      ...gaps.map((surface) => `Coverage of ${surface} is ${coverage[surface]}`),
      ...(source === 'producer_reported' ? ['It is what the producer says of itself'] : []),
      ...(isHashRight ? [] : ['assaycontenthash is not that of the content']),
    ],
    report: {
      authorized: scope.isAuthorized,
      out_of_scope_files: outOfScope.files,
      out_of_scope_commands: outOfScope.commands,
      out_of_scope_tools: outOfScope.tools,
      network_despite_denied: isNetworkSurprise ? effects.network : [],
      coverage_gaps: gaps,
      source_class: source,
      content_hash_matches: isHashRight,
    },
  };
}

interface Scope {
  readonly files: readonly string[];
  readonly commands: readonly string[];
  readonly tools: readonly string[];
  readonly network: 'allowed' | 'denied';
  readonly isAuthorized: boolean;
}

function readScope(shape: Shape): Scope {
  if (shape.has('expected_test_command')) shape.text('expected_test_command');
  return {
    files: shape.texts('allowed_files'),
    commands: shape.texts('allowed_commands'),
    tools: shape.texts('allowed_mcp_tools'),
    network: shape.oneOf('network', ['allowed', 'denied']),
    isAuthorized: shape.flag('authorized'),
  };
}

interface Effects extends Pick<Scope, 'files' | 'commands' | 'tools'> {
  readonly network: readonly string[];
}

function readEffects(shape: Shape): Effects {
  shape.flag('test_observed');
  return {
    files: shape.texts('files_changed'),
    commands: shape.texts('commands_executed'),
    tools: shape.texts('mcp_tool_calls'),
    network: shape.texts('network_attempts'),
  };
}

function listOutside(
  seen: readonly string[],
  allowed: readonly string[],
  isMatch: (one: string, allowed: string) => boolean,
): string[] {
  return seen.filter((one) => !allowed.some((entry) => isMatch(one, entry)));
}

function isSame(one: string, allowed: string): boolean {
  return one === allowed;
}

/** `git` was allowed, and `/usr/bin/git` was seen to run. */
function isSameCommand(seen: string, allowed: string): boolean {
  return seen === allowed || (!allowed.includes('/') && seen.endsWith(`/${allowed}`));
}

function describe(what: string, subjects: readonly string[]): string[] {
  return subjects.map((subject) => `${what}: ${subject}`);
}

function computeContentHash({
  specversion,
  type,
  datacontenttype,
  data,
  subject,
}: JsonObject): string {
  const content = {
    specversion,
    type,
    datacontenttype: datacontenttype ?? null,
    data,
    ...(typeof subject === 'string' && { subject }),
  };
  return `sha256:${sha256Hex(canonicalJson(content))}`;
}
