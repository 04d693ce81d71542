import { describe, expect, it } from 'vitest';
import { chooseVerdict, type VerifyReport } from '../../../src/cli/evidence-verify/report.ts';
import { formatVerifyReport } from '../../../src/cli/evidence-verify/text.ts';

const REPORT: VerifyReport = {
  schema: 'assay.evidence-verify.v1',
  bundle: 'a\u001b[2Jb.tar.gz',
  verdict: 'another policy',
  exitCode: 12,
  subject: null,
  checks: [
    { name: 'policy', status: 'failed', detail: 'x\ny' },
    { name: 'no-egress', status: 'failed', detail: 'connect unix:/\u202egnp.exe' },
  ],
  signers: [],
  policy: {
    file: 'p.yaml',
    digest: '',
    onlyInBundle: Array.from({ length: 12 }, (_, at) => `fs.read: /${at}\u0007`),
    onlyInFile: [],
  },
  coverage: null,
  requirements: [],
  notClaimed: ['this'],
  error: null,
};

describe('formatVerifyReport()', () => {
  it('lets no name do more than be a name, and cuts long lists short', () => {
    const text = formatVerifyReport(REPORT);
    // oxlint-disable-next-line no-control-regex -- they are what is looked for
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
    expect(text).toContain('x\\u000ay\n');
    expect(text).toContain('only in the bundle: fs.read: /9\\u0007\n');
    expect(text).toContain('only in the bundle: 2 more; --json has them all\n');
    expect(text).not.toContain('fs.read: /10');
  });
});

describe('chooseVerdict()', () => {
  it('is never better than the signer is known', () => {
    expect(chooseVerdict([], { isSigned: false })).toMatchObject({ exitCode: 10 });
    expect(chooseVerdict([], { isSigned: true })).toMatchObject({ exitCode: 0 });
  });
});
