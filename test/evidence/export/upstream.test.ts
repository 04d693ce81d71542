import { describe, expect, it } from 'vitest';
import { makeUpstreamEvents } from '../../../src/evidence/export/upstream-events.ts';
import { writeUpstreamPolicy } from '../../../src/evidence/export/upstream-policy.ts';
import {
  readUpstreamProfile,
  toProfileSource,
} from '../../../src/evidence/export/upstream-profile.ts';
import { toUpstreamSource } from '../../../src/evidence/export/upstream-run.ts';
import { scrubSubject } from '../../../src/evidence/export/upstream-scrub.ts';
import { makeEvidence } from '../../../src/evidence/profile.ts';
import { OPTIONS, sampleRecord } from '../sample-record.ts';
import { EVENTS, SAMPLE } from './sample-bundle.ts';

describe('makeUpstreamEvents() of a bundle', () => {
  const events = [...makeUpstreamEvents(toUpstreamSource(SAMPLE), 'observed')];

  it('has files, then the network, then programs, between start and end', () => {
    const types = events.map(({ type }) => type);
    expect([...new Set(types)]).toEqual([
      'assay.profile.started',
      'assay.sandbox.degraded',
      'assay.fs.access',
      'assay.net.connect',
      'assay.process.exec',
      'assay.profile.finished',
    ]);
    expect(types.indexOf('assay.net.connect')).toBe(types.lastIndexOf('assay.fs.access') + 1);
  });

  it('has every fact of these kinds, and counts them', () => {
    const of = (type: string): number => EVENTS.filter((event) => event.type === type).length;
    expect(events.at(-1)?.data).toEqual({
      files_count: of('assay.sandbox.fs'),
      network_count: of('assay.sandbox.net'),
      processes_count: of('assay.sandbox.exec'),
      sandbox_degradation_count: 1,
      integrity_scope: null,
    });
    expect(events).toContainEqual(
      expect.objectContaining({
        type: 'assay.net.connect',
        subject: 'tcp:192.0.2.1:443',
        data: { hits: 1, op: 'connect', outcome: 'EACCES', refused_by: '' },
      }),
    );
  });

  it('keeps the degradation as it is', () => {
    expect(events[1]).toMatchObject({
      subject: 'fs.deny: /x',
      data: { degradation_mode: 'partial_enforcement', detail: 'no layer can' },
    });
  });

  it('says no more than how many in a summary', () => {
    const summary = [...makeUpstreamEvents(toUpstreamSource(SAMPLE), 'summary')];
    expect(summary.map(({ type }) => type)).toEqual([
      'assay.profile.started',
      'assay.sandbox.degraded',
      'assay.profile.finished',
    ]);
    expect(summary.at(-1)?.data).toEqual(events.at(-1)?.data);
  });
});

const PROFILE = {
  version: '1.0',
  name: 'demo',
  created_at: '2026-01-27T00:00:00Z',
  updated_at: '2026-01-27T01:10:00.5+01:00',
  total_runs: 2,
  run_ids: ['first', 'last'],
  entries: {
    files: { '/home/u/f': { first_seen: 1, last_seen: 2, runs_seen: 1, hits_total: 3 } },
  },
};

describe('makeUpstreamEvents() of a profile', () => {
  it('has all that is known in full detail', () => {
    const events = [...makeUpstreamEvents(readUpstreamProfile(PROFILE), 'full')];
    expect(events[1]).toEqual({
      type: 'assay.fs.access',
      time: '2026-01-27T00:10:00.500Z',
      subject: '/home/u/f',
      data: { file: '/home/u/f', first_seen: 1, last_seen: 2, runs_seen: 1, hits: 3 },
    });
  });

  it('belongs to the last run or, without one, to the name', () => {
    expect(readUpstreamProfile(PROFILE).runId).toBe('last');
    expect(readUpstreamProfile({ ...PROFILE, run_ids: [] }).runId).toBe('run_2a97516c354b6884');
  });

  it.each<[string, object, RegExp]>([
    ['no name', { name: 1 }, /name is not a text/],
    ['a time that is none', { updated_at: 'soon' }, /updated_at is not a time/],
    ['entries of another form', { entries: { files: [] } }, /entries.files is not an object/],
    ['an entry without counts', { entries: { network: { h: {} } } }, /hits_total is missing/],
    ['degradations of another form', { sandbox_degradations: [1] }, /sandbox_degradations\[0\]/],
  ])('does not accept %s', (_, change, message) => {
    expect(() => readUpstreamProfile({ ...PROFILE, ...change })).toThrow(message);
  });

  it('can be made of a profile of ours', () => {
    const path = '/home/ada/work/a';
    const evidence = makeEvidence(
      sampleRecord([
        { kind: 'file', op: 'write', path, count: 5 },
        { kind: 'file', op: 'chmod', path, target: '0644' },
      ]),
      OPTIONS,
    );
    const events = [...makeUpstreamEvents(toProfileSource(evidence), 'observed')];
    expect(events).toContainEqual({
      type: 'assay.fs.access',
      time: evidence.run.finished_at,
      subject: '${CWD}/a',
      data: { hits: 6 },
    });
  });
});

describe('scrubSubject()', () => {
  it.each([
    ['/home/ada/secret.txt', '~/**/secret.txt'],
    ['/Users/ada/a/b', '~/**/a/b'],
    ['/home/ada', '~/**/'],
    ['\\Users\\ada\\x', '~/**/x'],
    ['/srv/home/x', '/srv/home/x'],
    ['https://h/?API_KEY=abc&x', 'https://h/?API_KEY=***'],
    ['Authorization: Bearer abc', 'Authorization: Bearer ***'],
    ['${HOME}/x', '${HOME}/x'],
  ])('shows %s as %s', (subject, shown) => {
    expect(scrubSubject(subject)).toBe(shown);
  });
});

describe('writeUpstreamPolicy()', () => {
  const EMPTY = { paths: [], programs: [], environment: [], counters: {}, notes: [] };

  it('has bare keys for what is empty', () => {
    expect(writeUpstreamPolicy(EMPTY)).toBe(
      [
        '# Generated by `assay sandbox --profile`',
        'api_version: 1',
        'extends: []',
        'fs:',
        '  allow:',
        '  deny: []',
        'net:',
        '  allow: []',
        '  deny:',
        '    - "*:*"',
        'env:',
        '  allow:',
        'processes:',
        '  allow:',
        'meta:',
        '  counters:',
        '',
      ].join('\n'),
    );
  });

  it('generalises places, of either form, and folds the private tmp', () => {
    const paths = [
      '/repo/a',
      '${CWD}/b',
      '/home/u/c',
      '${HOME}/d',
      '/tmp/t/e',
      '${TMPDIR}/f',
      '/repo/../etc/hosts',
      '/repository/x',
      `/${'x'.repeat(1024)}`,
    ];
    const places = { cwd: '/repo', home: '/home/u', tmp: '/tmp/t' };
    const text = writeUpstreamPolicy({ ...EMPTY, paths }, places);
    expect(Array.from(text.matchAll(/^ {4}- "([^*].*)"$/gm), (found) => found[1])).toEqual([
      '${ASSAY_TMP}/**',
      '${REDACTED_PATH_TYPE_LENGTH_>_1024}',
      './a',
      './b',
      '/etc/hosts',
      '/repository/x',
      '~/c',
      '~/d',
    ]);
  });

  it('leaves out names that pass anyway, and lets no name break a line', () => {
    const text = writeUpstreamPolicy({
      ...EMPTY,
      environment: ['PATH', 'LC_ALL', 'FOO'],
      paths: ['/a"\\\nb'],
    });
    expect(text).toContain('env:\n  allow:\n    - "FOO"\nprocesses:');
    expect(text).toContain('    - "/a\\"\\\\\\u000ab"\n');
  });
});
