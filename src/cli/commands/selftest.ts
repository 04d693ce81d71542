import { toPrintableJson } from '../../core/printable.ts';
import { resolve } from 'node:path';
import { AssayError } from '../../core/errors.ts';
import { readHostTree } from '../../launch/host-tree.ts';
import type { Attack } from '../../launch/selftest/attack.ts';
import { ATTACKS } from '../../launch/selftest/attacks.ts';
import type { StagePolicy } from '../../launch/selftest/judge.ts';
import { choosePreset, Selftest } from '../../launch/selftest/selftest.ts';
import { resolveRules } from '../host-plan.ts';
import { parseLayerChoice } from '../layer-choice.ts';
import { loadRunPolicy, type PolicyFlags, readVariables } from '../load-run-policy.ts';
import type { ParsedCommand } from '../parse.ts';
import {
  formatAttackReport,
  formatHeading,
  formatVerdict,
  makeSelftestReport,
} from '../selftest-table.ts';

async function loadStagePolicy(flags: PolicyFlags, workdir: string): Promise<StagePolicy> {
  const tree = readHostTree();
  const variables = readVariables({ workdir }, tree);
  return { policy: resolveRules(await loadRunPolicy(flags, variables), tree), variables };
}

function toArguments(flags: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(flags).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}=${value}`],
  );
}

/** Ends and removes everything, then lets the signal do what it would have done. */
function closeOnSignal(selftest: Selftest): () => void {
  const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  const end = (signal: NodeJS.Signals): void => {
    release();
    void selftest.close().finally(() => process.kill(process.pid, signal));
  };
  const release = (): void => {
    for (const name of names) process.off(name, end);
  };
  for (const name of names) process.on(name, end);
  return release;
}

/** `assay selftest`: attacks the sandbox on this host, through the same command that users run. */
export async function run({ flags }: Pick<ParsedCommand, 'flags'>): Promise<number> {
  const file = flags.text('policy');
  const policy = file === undefined ? undefined : resolve(file);
  const preset = flags.text('preset');
  const layers = flags.text('layers');
  parseLayerChoice(layers); // a wrong name is an error before anything is attacked
  const { policy: loaded } = await loadStagePolicy({ policy, preset }, '.');
  const hasOwnPolicy = policy !== undefined || preset !== undefined;
  const isJson = flags.has('json');
  const selftest = new Selftest({
    attacks: ATTACKS,
    assay: [process.execPath, process.argv[1] ?? '', 'sandbox'],
    flags: toArguments({ policy, preset, layers }),
    hasOwnPolicy,
    loadPolicy: (attack: Attack, workdir) =>
      loadStagePolicy({ policy, preset: preset ?? choosePreset(attack, hasOwnPolicy) }, workdir),
    onReport: isJson
      ? undefined
      : (report) => void process.stdout.write(`${formatAttackReport(report)}\n`),
  });
  if (!isJson) process.stdout.write(`${formatHeading(loaded.name)}\n`);
  const release = closeOnSignal(selftest);
  try {
    const report = makeSelftestReport(loaded.name, await selftest.run());
    const { counts } = report;
    process.stdout.write(isJson ? `${toPrintableJson(report, 2)}\n` : `${formatVerdict(counts)}\n`);
    if (counts.notRun === report.attacks.length)
      throw new AssayError('E_LAUNCH_FAILED', 'No attack could be run, so nothing was proven', {
        hint: 'Run assay doctor, and assay sandbox --verbose -- true',
      });
    return counts.gotThrough > 0 ? 1 : 0;
  } finally {
    release();
    await selftest.close();
  }
}
