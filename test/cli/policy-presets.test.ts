import { describe, expect, it } from 'vitest';
import { run } from '../../src/cli/commands/policy-presets.ts';
import { parsePolicyText } from '../../src/policy/load.ts';
import { PRESETS } from '../../src/policy/presets.ts';
import { capture } from './capture.ts';

describe('policy presets', () => {
  it('lists every preset and marks the default', async () => {
    const { stdout, code } = await capture(run, {});
    expect(code).toBe(0);
    for (const name of Object.keys(PRESETS)) expect(stdout).toContain(name);
    expect(stdout.match(/\(default\)/g)).toHaveLength(1);
  });

  it('has the whole content in JSON', async () => {
    const { stdout } = await capture(run, { json: 'true' });
    const listed = JSON.parse(stdout) as { name: string; policy: unknown }[];
    expect(Object.fromEntries(listed.map(({ name, policy }) => [name, policy]))).toEqual(PRESETS);
  });

  it('prints one preset as a policy file that loads', async () => {
    const { stdout } = await capture(run, {}, ['coding-agent']);
    expect(parsePolicyText(stdout, 'x.yaml').data).toEqual(PRESETS['coding-agent']);
  });

  it('suggests the preset that was meant', async () => {
    await expect(capture(run, {}, ['coding-agnet'])).rejects.toMatchObject({
      code: 'E_USAGE',
      message: 'Unknown preset "coding-agnet", did you mean coding-agent?',
    });
  });
});
