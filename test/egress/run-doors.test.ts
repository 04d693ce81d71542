import { describe, expect, it } from 'vitest';
import { makeHide } from '../../src/core/known-secrets.ts';
import { RefusalTally } from '../../src/egress/refusal-tally.ts';
import { describeRefusals } from '../../src/egress/run-doors.ts';

describe('describeRefusals()', () => {
  it.each([
    ['a token', `ghp_${'aB3dE6gH9j'.repeat(4).slice(0, 36)}`],
    ['a value that is kept from the program', 'qz7value77'],
  ])('shows no name that is %s', (_, secret) => {
    const tally = new RefusalTally(undefined);
    const name = `${secret}.example.com`;
    const verdict = { isAllowed: false, rule: null, hint: `--allow-net ${name}:443` };
    tally.question({ name, type: 'A', atMs: 1, answer: 'NXDOMAIN', verdict });
    expect(describeRefusals(tally, makeHide(['qz7value77']))).toEqual([
      'assay: refused: connect to [redacted].example.com; allow it with --allow-net [redacted].example.com:443',
    ]);
  });

  it('shows any other name as it is', () => {
    const tally = new RefusalTally(undefined);
    const verdict = { isAllowed: false, rule: null, reason: 'nothing allows it' };
    tally.question({ name: 'token.example.com', type: 'A', atMs: 1, answer: '', verdict });
    expect(describeRefusals(tally)).toEqual([
      'assay: refused: connect to token.example.com (nothing allows it)',
    ]);
  });
});
