import { Ajv } from 'ajv';
import { format } from 'prettier';
import { describe, expect, it } from 'vitest';
import { policyJsonSchema } from '../../src/policy/json-schema.ts';
import { parsePolicyText } from '../../src/policy/load.ts';
import { PRESETS } from '../../src/policy/presets.ts';
import { SYSTEM_BASELINE } from '../../src/policy/system-baseline.ts';

const validate = new Ajv({ allowUnionTypes: true }).compile(policyJsonSchema());

describe('policyJsonSchema()', () => {
  // After a change of the shape, `npx vitest run test/policy/json-schema.test.ts --update` writes the file anew.
  it('is what schemas/policy.schema.json holds', async () => {
    const text = await format(JSON.stringify(policyJsonSchema()), {
      parser: 'json',
      printWidth: 100,
    });
    await expect(text).toMatchFileSnapshot('../../schemas/policy.schema.json');
  });

  it.each([...Object.entries(PRESETS), ['system baseline', SYSTEM_BASELINE] as const])(
    'accepts %s, and so does the loader',
    (_, data) => {
      expect(validate(data)).toBe(true);
      expect(parsePolicyText(JSON.stringify(data), 'preset.json').data).toEqual(data);
    },
  );

  const samples: [unknown, boolean][] = [
    [{}, true],
    [{ fs: { allow: null }, net: null }, true],
    [{ net: { allow: [443, 'example.com'] } }, true],
    [{ limits: { timeout: 30, memory: '2G' }, env: { set: { PORT: 80 } } }, true],
    [{ tests: [{ deny: 'fs.read /x' }] }, true],
    [{ fs: { wriet: [] } }, false],
    [{ fs: { allow: '/x' } }, false],
    [{ fs: { allow: [''] } }, false],
    [{ api_version: 1 }, false],
    [{ env: { mode: 'loose' } }, false],
    [{ limits: { pids: 0 } }, false],
    [{ tests: [{ allow: 'fs.read /x', deny: 'fs.read /x' }] }, false],
    [[], false],
  ];

  it.each(samples)('%j: %s, as the loader says', (data, isValid) => {
    expect(validate(data)).toBe(isValid);
    const load = () => parsePolicyText(JSON.stringify(data), 'sample.json');
    if (isValid) expect(load).not.toThrow();
    else expect(load).toThrow();
  });
});
