import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { join } from 'node:path';

import { expect } from 'vitest';

import type { Row } from '../row.ts';

const ASSAY = join(import.meta.dirname, '../../../bin/assay.js');

export const EVIDENCE_ROWS: Row[] = [
  {
    group: 'evidence',
    name: 'names the run, what was watched, and the digest of the code',
    async act(kit) {
      const sandbox = await kit.open();
      const program = kit.printing('x');
      const codeSha256 = createHash('sha256').update(program.code).digest('hex');
      const { evidence } = await kit.run(sandbox, program, { codeSha256 });
      expect(evidence.runId).toMatch(/^\S{8,}$/);
      expect(evidence.codeSha256).toBe(codeSha256);
      expect(evidence.coverage).toEqual(kit.report.guarantees.coverage);
    },
  },
  {
    group: 'evidence',
    name: 'writes a bundle that verifies, and holds the digest of the code',
    async act(kit) {
      const sandbox = await kit.open();
      const bundle = join(kit.world.base, `evidence-${kit.id}.tar.gz`);
      const program = kit.printing('x');
      const codeSha256 = createHash('sha256').update(program.code).digest('hex');
      const { evidence } = await kit.run(sandbox, program, { bundle, codeSha256 });
      expect(evidence.bundle?.path).toBe(bundle);
      const bytes = fs.readFileSync(bundle);
      expect(evidence.bundle?.sha256).toBe(createHash('sha256').update(bytes).digest('hex'));
      const verified = spawnSync(ASSAY, ['evidence', 'verify', bundle], { encoding: 'utf8' });
      expect(verified.stdout, `${verified.status} ${verified.stderr}`).toContain(
        ': intact, signer unknown',
      );
      const shown = spawnSync(ASSAY, ['evidence', 'show', bundle, '--format', 'json'], {
        encoding: 'utf8',
      });
      expect(shown.stdout, shown.stderr).toContain(codeSha256);
      fs.rmSync(bundle);
    },
  },
  {
    group: 'evidence',
    name: 'leaves a bundle also of a run that timed out',
    needs: ['python'],
    async act(kit) {
      const sandbox = await kit.open();
      const bundle = join(kit.world.base, `late-${kit.id}.tar.gz`);
      const program = { language: 'python', code: 'import time; time.sleep(1000)' } as const;
      const { outcome } = await kit.run(sandbox, program, { bundle, limits: { wallMs: 1500 } });
      expect(outcome.kind).toBe('timeout');
      const verified = spawnSync(ASSAY, ['evidence', 'verify', bundle], { encoding: 'utf8' });
      expect(verified.stdout, `${verified.status} ${verified.stderr}`).toContain(
        ': intact, signer unknown',
      );
      fs.rmSync(bundle);
    },
  },
  {
    group: 'evidence',
    name: 'gives equal runs an equal run id, and others another',
    async act(kit) {
      const idOf = async (text: string): Promise<string> => {
        const sandbox = await kit.open();
        const program = kit.printing(text);
        const codeSha256 = createHash('sha256').update(program.code).digest('hex');
        return (await kit.run(sandbox, program, { codeSha256 })).evidence.runId;
      };
      const [one, same, other] = [await idOf('one'), await idOf('one'), await idOf('other')];
      expect(one).toBe(same);
      expect(one).not.toBe(other);
    },
  },
];
