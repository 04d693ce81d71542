import type { SurfaceCoverage } from '../../observe/event.ts';
import { LOOPBACK } from '../../policy/plain-net.ts';
import type { EffectivePolicy } from '../../policy/effective-policy.ts';
import { listChanged } from '../controls.ts';
import type { EvidenceContent } from '../evidence.ts';
import { boundList } from './bounded-list.ts';

/** What no record of a run can prove, in the words of the format. */
export const NON_CLAIMS = [
  'does_not_prove_code_correctness',
  'does_not_prove_agent_intent',
  'does_not_replace_human_review',
] as const;

type PackCoverage = 'observed' | 'partial' | 'absent';

/** The same run in the words that reviews of coding agents use. */
export interface CodingAgentPack {
  readonly declared_scope: {
    readonly allowed_files: readonly string[];
    readonly allowed_commands: readonly string[];
    readonly network: 'allowed' | 'denied';
    readonly allowed_mcp_tools: readonly string[];
    readonly authorized: boolean;
  };
  readonly observed_effects: {
    readonly files_changed: readonly string[];
    readonly commands_executed: readonly string[];
    readonly network_attempts: readonly string[];
    readonly mcp_tool_calls: readonly string[];
    readonly test_observed: boolean;
  };
  readonly coverage: Readonly<
    Record<'files' | 'commands' | 'network' | 'mcp_tools' | 'test', PackCoverage>
  >;
  readonly source_class: 'boundary_observed';
  readonly non_claims: readonly string[];
}

/** A list that is cut short covers its surface in part only. */
export function makeCodingAgentPack(
  content: EvidenceContent,
  policy: EffectivePolicy,
): CodingAgentPack {
  const { coverage, entries } = content;
  const files = boundList([...new Set(listChanged(content.changes))].sort());
  const commands = boundList(Object.keys(entries.processes));
  const attempts = boundList(Object.keys(entries.network));
  return {
    declared_scope: {
      allowed_files: boundList(listWritable(policy)).shown,
      allowed_commands: content.command.slice(0, 1),
      network: allowsNetwork(policy) ? 'allowed' : 'denied',
      allowed_mcp_tools: [],
      // Nobody is asked whether the scope is right.
      authorized: false,
    },
    observed_effects: {
      files_changed: files.shown,
      commands_executed: commands.shown,
      network_attempts: attempts.shown,
      mcp_tool_calls: [],
      test_observed: false,
    },
    coverage: {
      files: worstOf([coverage.reads, coverage.changes], files.more),
      commands: worstOf([coverage.programs], commands.more),
      network: worstOf([coverage.network], attempts.more),
      mcp_tools: 'absent',
      test: 'absent',
    },
    source_class: 'boundary_observed',
    non_claims: NON_CLAIMS,
  };
}

/** Beside what every run may write, such as its private tmp and /dev/null. */
function listWritable({ fs }: EffectivePolicy): string[] {
  const patterns = fs
    .filter(({ effect, rights }) => effect === 'allow' && rights.includes('write'))
    .map(({ pattern }) => pattern)
    .filter((pattern) => pattern !== '${TMPDIR}' && !pattern.startsWith('/dev/'));
  return [...new Set(patterns)].sort();
}

/** What was declared: the scope knows no single hosts, and a dry run has the network of the host all the same. */
function allowsNetwork({ net }: EffectivePolicy): boolean {
  return net.some(({ effect, text }) => effect === 'allow' && !LOOPBACK.has(text));
}

function worstOf(surfaces: readonly SurfaceCoverage[], missing: number): PackCoverage {
  if (surfaces.some(({ status }) => status === 'absent')) return 'absent';
  if (missing > 0 || surfaces.some(({ status }) => status === 'partial')) return 'partial';
  return 'observed';
}
