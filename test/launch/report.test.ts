import { describe, expect, it } from 'vitest';

import { ReportReader } from '../../src/launch/report.ts';

/** An event as the helper writes it. */
function lineOf(requested: string, errno: number, rule: number): string {
  return `${JSON.stringify({ e: [5, 1, 'mkdir', '/w/made', requested, errno, 'p', rule, '', 1] })}\n`;
}

describe('ReportReader', () => {
  // Each is also a word for how an event is known.
  it.each(['p', 'o', 'd', '1', '"p",1', '1,"p",1'])(
    'takes no failure for a refusal when a file is called %s',
    (name) => {
      const reader = new ReportReader();
      reader.feed(lineOf(name, 17, 0));
      expect(reader.finish().refusals).toEqual([]);
    },
  );

  it('takes no text of a link for a refusal', () => {
    const reader = new ReportReader();
    reader.feed(`${JSON.stringify({ e: [5, 1, 'symlink', '/w/l', '', 0, 'p', 0, 'd', 32] })}\n`);
    expect(reader.finish().refusals).toEqual([]);
  });

  it.each([-2, -1, 7])('finds a refusal by rule %i', (rule) => {
    const reader = new ReportReader();
    reader.feed(lineOf('p', 13, rule));
    expect(reader.finish().refusals).toEqual([{ op: 'create', path: '/w/made', rule, errno: 13 }]);
  });
});
