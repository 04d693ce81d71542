import { describe, expect, it } from 'vitest';
import type { ConnectionFact, EgressLog, QuestionFact } from '../../src/egress/egress.ts';
import { RefusalTally } from '../../src/egress/refusal-tally.ts';

const refused = { isAllowed: false, rule: null, reason: 'no rule allows it' };
const allowed = { isAllowed: true, rule: 'policy.yaml:1:1 net.allow: a.example' };

const makeQuestion = (
  name: string,
  verdict = refused as QuestionFact['verdict'],
): QuestionFact => ({
  name,
  type: 'A',
  verdict,
  answer: 'NXDOMAIN',
  atMs: 0,
});

const makeConnection = (destination: ConnectionFact['destination']): ConnectionFact => ({
  door: 'http',
  destination,
  verdict: refused,
  outcome: 'refused',
  sent: 0,
  received: 0,
  startedMs: 0,
  durationMs: 0,
});

describe('RefusalTally', () => {
  it('keeps refused places, each once, and passes everything on', () => {
    const passed: string[] = [];
    const next: EgressLog = {
      question: ({ name }) => void passed.push(name),
      connection: ({ destination }) => void passed.push(`${destination.port}`),
    };
    const tally = new RefusalTally(next);
    tally.question(makeQuestion('a.example', allowed));
    tally.question(makeQuestion('b.example'));
    tally.question(makeQuestion('b.example'));
    tally.connection(makeConnection({ protocol: 'tcp', name: 'b.example', port: 443 }));
    tally.connection(makeConnection({ protocol: 'tcp', address: '2001:db8::1', port: 80 }));
    expect(tally.list().map(({ place }) => place)).toEqual([
      'b.example',
      'b.example:443',
      '[2001:db8::1]:80',
    ]);
    expect(passed).toEqual(['a.example', 'b.example', 'b.example', '443', '80']);
  });

  it('counts what it has no room for', () => {
    const tally = new RefusalTally(undefined);
    for (let at = 0; at < 1000; at++) tally.question(makeQuestion(`n${at}.example`));
    expect([tally.list().length, tally.more]).toEqual([100, 900]);
  });
});
