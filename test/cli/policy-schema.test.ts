import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { run } from '../../src/cli/commands/policy-schema.ts';
import { capture } from './capture.ts';

it('policy schema prints the schema that is in schemas/', async () => {
  const { stdout, code } = await capture(run, {});
  const file = join(import.meta.dirname, '../../schemas/policy.schema.json');
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toEqual(JSON.parse(readFileSync(file, 'utf8')));
});
