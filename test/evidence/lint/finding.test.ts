import { describe, expect, it } from 'vitest';
import { FingerprintSet } from '../../../src/evidence/lint/fingerprint-set.ts';
import { coverage, type Draft, findingsOf, fs, lintEvents, net } from './lint-events.ts';

const OUTSIDE = 'ASSAY-CTL-008';

function* writeMany(count: number, directory = '${HOME}/.cache/x'): Generator<Draft> {
  for (let at = 0; at < count; at++) yield fs('create', `${directory}/file-${at}`);
}

describe('findings', () => {
  it('are one for fifty thousand files in the same place, with examples and the number', () => {
    const [found, ...others] = findingsOf(lintEvents(writeMany(50_000)), OUTSIDE);
    expect(others).toEqual([]);
    expect(found).toMatchObject({ place: '${HOME}/.cache', op: 'write', count: 50_000 });
    expect(found?.examples.map(({ subject }) => subject)).toEqual(
      [0, 1, 2, 3, 4].map((at) => `\${HOME}/.cache/x/file-${at}`),
    );
  });

  it('count what several programs did, and what is said again, once', () => {
    const result = lintEvents([
      fs('create', '/srv/a/x', { program: '/usr/bin/a' }),
      fs('write', '/srv/a/x', { program: '/usr/bin/b' }),
      fs('write', '/srv/a/y'),
    ]);
    expect(findingsOf(result, OUTSIDE)).toMatchObject([{ count: 2 }]);
  });

  it('go into one more where a rule has too many places', () => {
    const events = Array.from({ length: 80 }, (_, at) => net(`tcp:192.0.2.${at}:443`));
    const found = findingsOf(lintEvents(events), 'ASSAY-CTL-003');
    expect(found).toHaveLength(51);
    expect(found.find(({ place }) => place === 'elsewhere')?.count).toBe(30);
  });

  it('are known by rule, place and operation, wherever the events stand', () => {
    const event = fs('write', '/srv/a/x');
    const first = findingsOf(lintEvents([event]), OUTSIDE);
    const later = findingsOf(lintEvents([...writeMany(7, '${CWD}'), event]), OUTSIDE);
    expect(first[0]?.examples[0]?.at?.line).toBe(1);
    expect(later[0]?.examples[0]?.at?.line).toBe(8);
    expect(later[0]?.fingerprint).toBe(first[0]?.fingerprint);
    const other = findingsOf(lintEvents([fs('write', '/srv/b/x')]), OUTSIDE);
    expect(other[0]?.fingerprint).not.toBe(first[0]?.fingerprint);
  });

  it('come with the gravest first, in an order that the events do not change', () => {
    const events = [
      coverage('complete'),
      fs('read', '${HOME}/.ssh/id_rsa'),
      fs('write', '/srv/a/x'),
      net('tcp:192.0.2.1:80'),
      fs('create', '${CWD}/.vscode/x'),
      fs('read', '/srv/x', { outcome: 'EACCES', refused_by: '' }),
    ];
    const order = (list: readonly Draft[]): string[] =>
      lintEvents(list).findings.map(({ rule }) => rule.id);
    expect(order(events)).toEqual([
      'ASSAY-CTL-001',
      'ASSAY-CTL-009',
      'ASSAY-CTL-003',
      'ASSAY-CTL-008',
      'ASSAY-REF-003',
    ]);
    expect(order(events.toReversed())).toEqual(order(events));
  });

  it('are cut after the gravest, and counted and judged before', () => {
    const events = [
      fs('write', '/srv/a/x'),
      fs('create', '${CWD}/.vscode/x'),
      coverage('complete'),
    ];
    const result = lintEvents(events, { maxResults: 1, failOn: 'warning' });
    expect(result.findings.map(({ rule }) => rule.id)).toEqual(['ASSAY-CTL-001']);
    expect(result).toMatchObject({ left: 1, totals: { total: 2, errors: 1, warnings: 1 } });
    expect(result.hasFailed).toBe(true);
  });

  it.each([
    ['error', false],
    ['warning', true],
    ['info', true],
    ['none', false],
  ] as const)('that are warnings fail on %s: %s', (failOn, hasFailed) => {
    const events = [coverage('complete'), fs('write', '/srv/a/x')];
    expect(lintEvents(events, { failOn }).hasFailed).toBe(hasFailed);
  });

  it('show no secret that is in a name, and no more than a line of it', () => {
    const token = `ghp_${'a1B2'.repeat(9)}`;
    const result = lintEvents([
      fs('write', `/srv/a/${token}/${'x'.repeat(5000)}`),
      net(`tcp:${token}:80`),
      {
        type: 'x',
        data: { command: [`curl -u ada:hunter22 https://ada:hunter22@example.com`, token] },
      },
    ]);
    const text = JSON.stringify(result.findings);
    expect(text).toContain('[redacted]');
    expect(text).not.toMatch(/a1B2a1B2|:hunter22@/);
    expect(text.length).toBeLessThan(10_000);
  });
});

describe('FingerprintSet', () => {
  it('knows what was added, and nothing else', () => {
    const set = new FingerprintSet();
    for (let at = 0; at < 20_000; at++) expect(set.add(`/some/path/${at}`)).toBe(true);
    for (let at = 0; at < 20_000; at++) {
      expect(set.add(`/some/path/${at}`)).toBe(false);
      expect(set.has(`/other/path/${at}`)).toBe(false);
    }
    expect(set.size).toBe(20_000);
  });
});
