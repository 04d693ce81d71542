import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { formatPage, renderEvaluation } from '../scripts/evaluation-page.mjs';

const DOCS = join(import.meta.dirname, '../docs');

interface Figures {
  readonly command: string;
  readonly options: readonly { readonly id: string; readonly coldMs?: number }[];
}

describe('docs/evaluation.md', () => {
  const figures = JSON.parse(readFileSync(join(DOCS, 'evaluation.json'), 'utf8')) as Figures;

  it('is what its figures make of it', async () => {
    const page = await formatPage(renderEvaluation(figures));
    expect(readFileSync(join(DOCS, 'evaluation.md'), 'utf8')).toBe(page);
  });

  it('compares at least six ways, and says of each that was not measured why', () => {
    expect(figures.options.length).toBeGreaterThanOrEqual(6);
    const page = renderEvaluation(figures);
    for (const { id, coldMs } of figures.options)
      if (coldMs === undefined) expect(page).toMatch(new RegExp(`^- .*${id}.*: .+`, 'm'));
  });
});
