import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { describeForEachPerson } from './as-user.ts';
import { makeCheckout, readBlocks, splitCommands, type } from './command-blocks.ts';
import { usePlaces } from './place.ts';
import { readBundle } from './read-bundle.ts';

const BLOCKS = readBlocks('docs/coding-agents.md');

describeForEachPerson('docs/coding-agents.md', (person) => {
  const makePlace = usePlaces(person);

  it('shows commands that do what it says, in this order, in one checkout', async () => {
    const place = await makeCheckout(makePlace());
    const summary = place.write('summary.md');
    const failed: string[] = [];
    const run = async (command: string): Promise<void> => {
      const { code, stderr } = await type(place, command, { GITHUB_STEP_SUMMARY: summary });
      const wanted = command.includes('--dry-run') ? 4 : 0;
      if (code !== wanted) failed.push(`${command}: ${code}\n${stderr}`);
    };
    let count = 0;
    for (const { kind, text } of BLOCKS) {
      if (kind === 'yaml' && text.startsWith('api_version')) {
        place.write('work/assay.yaml', text);
        continue;
      }
      // A step runs under `bash -e`; a block without a kind is typed, a command at a time.
      const steps = kind === 'yaml' ? (parse(text) as { run?: string }[]) : [];
      const scripts = steps.flatMap((step) =>
        step.run === undefined ? [] : [`set -e\n${step.run}`],
      );
      const commands = kind === '' ? splitCommands(text) : kind === 'sh' ? [text] : scripts;
      for (const command of commands) {
        await run(command);
        count += 1;
      }
    }
    expect(failed).toEqual([]);
    expect(count).toBe(15);
    const made = [
      'run.profile.yaml',
      'run.profile.evidence.yaml',
      'run.report.md',
      'run.profile.yaml.report.md',
      'run.bundle.tar.gz',
      'run.bundle.tar.gz.intoto.jsonl',
      'run.html',
      'lint.sarif',
      'first.profile.evidence.yaml',
      '.assay/agent.tar.gz',
    ];
    expect(made.filter((name) => !place.has(`work/${name}`))).toEqual([]);
    expect(readFileSync(summary, 'utf8')).toContain('# Run report');
    const { manifest } = await readBundle(place.at('work/run.bundle.tar.gz'));
    expect(manifest.run_id).toMatch(/^sandbox_[0-9a-f]{16}$/);
  });
});
