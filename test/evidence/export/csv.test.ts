import { describe, expect, it } from 'vitest';
import { exportCsv } from '../../../src/evidence/export/csv.ts';
import { EVENTS, HOSTILE, SAMPLE } from './sample-bundle.ts';

const text = [...exportCsv(SAMPLE)].join('');

/** RFC 4180, as a reader sees it that knows nothing else. */
function parse(csv: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/y;
  while (field.lastIndex < csv.length) {
    const found = field.exec(csv);
    if (!found) throw new Error(`not a field: ${csv.slice(0, 40)}`);
    const [, quoted, plain = '', end] = found;
    row.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === ',') continue;
    rows.push(row);
    row = [];
  }
  return rows;
}

describe('exportCsv()', () => {
  const rows = parse(text);
  const [header = [], ...body] = rows;
  const column = (name: string): string[] => body.map((row) => row[header.indexOf(name)] ?? '');

  it('has a header, a row for each event, and as many fields in each', () => {
    expect(header.slice(0, 6)).toEqual(['seq', 'time', 'type', 'kind', 'op', 'subject']);
    expect(body.length).toBe(EVENTS.length);
    expect(new Set(rows.map(({ length }) => length))).toEqual(new Set([header.length]));
    expect(column('type')).toEqual(EVENTS.map(({ type }) => type));
  });

  it('ends each row with CRLF and has no other line break, nor any control character', () => {
    expect(text.endsWith('\r\n')).toBe(true);
    expect(text.split('\r\n').length).toBe(EVENTS.length + 2);
    // oxlint-disable-next-line no-control-regex -- they are what must not be there
    expect(text.replaceAll('\r\n', '')).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/);
  });

  it('has no field that a spreadsheet takes for a formula', () => {
    for (const value of rows.flat()) expect(value).not.toMatch(/^\s*[=+\-@\uff1d]/);
    expect(column('subject')).toEqual(
      expect.arrayContaining([
        '\'=cmd|"/C calc"!A0',
        "'@SUM(1)",
        "' =1",
        '\\u0009=1',
        'a,b',
        'a"b',
      ]),
    );
    expect(column('subject').filter((value) => value !== '').length).toBeGreaterThan(
      HOSTILE.length,
    );
  });

  it('says what was refused, and by what', () => {
    const refused = body.filter((row) => row[header.indexOf('refused')] === 'yes');
    expect(refused.map((row) => row[header.indexOf('rule')])).toEqual([
      '',
      'p.yaml:3 fs.deny: sudo',
      'fs.write',
      'nothing',
    ]);
  });
});
