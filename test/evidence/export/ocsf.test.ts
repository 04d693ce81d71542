import { describe, expect, it } from 'vitest';
import { exportOcsf } from '../../../src/evidence/export/ocsf.ts';
import { findOcsfProblems } from './ocsf-rules.ts';
import { EVENTS, HOSTILE, MANIFEST, RUN_ID, SAMPLE } from './sample-bundle.ts';

type Record_ = Readonly<Record<string, unknown>> & {
  readonly message: string;
  readonly metadata: Readonly<Record<string, unknown>>;
};

const lines = [...exportOcsf(SAMPLE)];
const records = lines.map((line) => JSON.parse(line) as Record_);

function find(message: string): Record_ | undefined {
  return records.find((record) => record.message === message);
}

describe('exportOcsf()', () => {
  it('writes one record a line for each event, in the form that the schema requires', () => {
    expect(lines.length).toBe(EVENTS.length);
    for (const line of lines) expect(line).toMatch(/^[^\n]+\n$/);
    expect(records.flatMap(findOcsfProblems)).toEqual([]);
    expect(records.map(({ metadata }) => metadata['uid'])).toEqual(EVENTS.map(({ id }) => id));
  });

  it('is checked by rules that notice what is missing, unknown or of another type', () => {
    const [first] = records.filter(({ class_uid }) => class_uid === 1001);
    const without = { ...first, file: undefined };
    expect(findOcsfProblems(JSON.parse(JSON.stringify(without)) as Record_)).toEqual([
      'class 1001.file is missing',
    ]);
    expect(findOcsfProblems({ ...first, file: { name: 'x' } })).not.toEqual([]);
    expect(findOcsfProblems({ ...first, extra: 1 })).not.toEqual([]);
    expect(findOcsfProblems({ ...first, severity_id: 7 })).not.toEqual([]);
    expect(findOcsfProblems({ ...first, type_uid: 1 })).not.toEqual([]);
    expect(findOcsfProblems({ ...first, time: '2026' })).not.toEqual([]);
  });

  it.each([
    ['create ${CWD}/new', 100101, 'Allowed', 1],
    ['read a,b', 100102, 'Allowed', 1],
    ['write ${CWD}/would', 100103, 'Observed', 1],
    ['unlink ${HOME}/x', 100104, 'Denied', 2],
    ['rename ${CWD}/a', 100105, 'Allowed', 1],
    ['chmod ${CWD}/a', 100107, 'Allowed', 1],
    ['exec /usr/bin/node', 100199, 'Allowed', 1],
    ['write in ${CWD}/many, many files', 100103, 'Allowed', 1],
    ['created in the end: ${CWD}/d/', 100101, undefined, 1],
    ['run /usr/bin/node', 100701, 'Allowed', 1],
    ['run /usr/bin/sudo', 100701, 'Denied', 2],
    ['connect tcp:192.0.2.1:443', 400105, 'Denied', 2],
    ['connect udp:[2001:db8::1]:53', 400104, 'Allowed', 2],
    ['connect unix:${TMPDIR}/s', 400101, 'Allowed', 1],
    ['bind tcp:127.0.0.1:${PORT}', 400107, 'Allowed', 1],
    ['Limit reached: memory', 200401, 'Denied', 1],
    ['Not enforced: fs.deny: /x: no layer can', 200401, 'Allowed', 1],
    ['Policy in force: p.yaml', 501901, undefined, undefined],
    ['assay.profile.finished', 99, undefined, undefined],
  ])('has %s as %s', (message, type, action, status) => {
    const record = find(message);
    expect(record?.['type_uid']).toBe(type);
    expect(record?.['action']).toBe(action);
    expect(record?.['status_id']).toBe(status);
  });

  it('says who did it, where to, and which rule refused it', () => {
    expect(find('rename ${CWD}/a')).toMatchObject({
      actor: { process: { uid: `${RUN_ID}:/usr/bin/sh`, name: 'sh' } },
      file_result: { path: '${CWD}/b', name: 'b' },
    });
    expect(find('connect udp:[2001:db8::1]:53')).toMatchObject({
      dst_endpoint: { ip: '2001:db8::1', port: 53 },
      connection_info: { protocol_num: 17, direction_id: 2 },
      status_code: 'ENETUNREACH',
    });
    expect(find('unlink ${HOME}/x')).toMatchObject({
      is_alert: true,
      severity_id: 3,
      status_detail: 'fs.write',
      policy: { name: 'p.yaml', uid: 'sha256:1' },
    });
  });

  it('claims no control for a run without a boundary', () => {
    const { sandbox: _, ...manifest } = MANIFEST;
    const bare = [...exportOcsf({ ...SAMPLE, manifest })].map(
      (line) => JSON.parse(line) as Record_,
    );
    const files = bare.filter(({ class_uid }) => class_uid === 1001);
    expect(files.length).toBeGreaterThan(5);
    for (const record of files) expect(record).not.toHaveProperty('action_id');
  });

  it('keeps hostile names as they are', () => {
    const paths = records.flatMap(({ file }) => (file ? [(file as { path: string }).path] : []));
    expect(paths).toEqual(expect.arrayContaining(HOSTILE));
    // Spelt out, so that a terminal shows them.
    // oxlint-disable-next-line no-control-regex -- they are what must not be there
    expect(lines.join('').replaceAll('\n', '')).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
  });
});
