import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { OWN_RULES } from '../../../src/evidence/lint/rules.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../../docs/evidence-lint.md'), 'utf8');

describe('docs/evidence-lint.md', () => {
  it('lists every rule with its severity and title, in order, and no other', () => {
    const rows = Array.from(
      PAGE.matchAll(/^\| `(ASSAY-[^`]+)` *\| (\w+) *\| (.*?) *\|$/gm),
      (row) => row.slice(1),
    );
    expect(rows).toEqual(OWN_RULES.map(({ id, severity, title }) => [id, severity, title]));
  });
});
