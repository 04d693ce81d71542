import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findOcsfProblems } from '../evidence/export/ocsf-rules.ts';
import { readBack } from '../evidence/export/otlp-reader.ts';
import { describeForEachPerson } from './as-user.ts';
import { type Place, usePlaces } from './place.ts';
import { readBundle } from './read-bundle.ts';
import { ASSAY, type Outcome, PYTHON, runAssay, runBare } from './run-assay.ts';

/** Something of everything: files, refusals, programs, connections, names that are hostile. */
const SCRIPT = [
  'echo a > a; mv a b; chmod 600 b; ln -s b c; mkdir d; rm b',
  'cat ~/.ssh/id; echo x > /etc/motd; mkdir .vscode',
  `touch '=cmd|1' "$(printf 'x\\ny\\033[31m')"`,
  `${PYTHON} -c 'import socket; socket.socket().connect(("192.0.2.1", 9))'`,
].join('\n');

describeForEachPerson('an export of a real run', (person) => {
  const makePlace = usePlaces(person);

  const record = async (): Promise<{ place: Place; bundle: string }> => {
    const place = makePlace();
    const bundle = join(place.makeDir('out'), 'run.bundle.tar.gz');
    await runAssay({
      place,
      flags: ['--preset', 'coding-agent', '--bundle', bundle],
      command: ['/bin/sh', '-c', SCRIPT],
    });
    return { place, bundle };
  };
  const run = (place: Place, ...words: string[]): Promise<Outcome> =>
    runBare({ place, command: [process.execPath, ASSAY, 'evidence', ...words] });
  const exportAs = async (format: string): Promise<{ text: string; count: number }> => {
    const { place, bundle } = await record();
    const { code, stdout, stderr } = await run(place, 'export', bundle, '--format', format);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return { text: stdout, count: (await readBundle(bundle)).events.length };
  };
  const parseLines = (text: string): Record<string, unknown>[] =>
    text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);

  it('has a good record of OCSF for each event', async () => {
    const { text, count } = await exportAs('ocsf');
    const records = parseLines(text);
    expect(records.length).toBe(count);
    expect(records.flatMap(findOcsfProblems)).toEqual([]);
    expect(records.map((record) => record['action'])).toContain('Denied');
  });

  it('is read by the reader of OpenTelemetry', async () => {
    const requests = parseLines((await exportAs('otlp')).text);
    expect(requests.length).toBeGreaterThan(1);
    for (const request of requests) expect(readBack(request)).toEqual(request);
  });

  it('is a table of as many lines, none of them a formula', async () => {
    const { text: table, count } = await exportAs('csv');
    expect(table.split('\r\n').length).toBe(count + 2);
    expect(table).not.toMatch(/(?:^|,)"?\s*=/m);
    expect(table).not.toContain('\u001b');
  });

  it('is a bundle of the older format, which can be compared', async () => {
    const { place, bundle } = await record();
    const older = join(place.at('out'), 'older.tar.gz');
    await run(place, 'export', bundle, '--format', 'upstream', '-o', older);
    expect((await run(place, 'verify', older)).code).toBe(10);
    const { events } = await readBundle(older);
    expect(events.map(({ subject }) => subject)).toContain('tcp:192.0.2.1:9');
    expect((await run(place, 'diff', older, older)).code).toBe(0);
  });

  it('passes as a list of events', async () => {
    const { place, bundle } = await record();
    const shown = await run(place, 'show', bundle, '--format', 'json');
    const { code, stdout } = await runBare({
      place,
      command: [process.execPath, ASSAY, 'evidence', 'check', '-', '--json'],
      input: shown.stdout,
    });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      kind: 'sandbox-events',
      signals: [],
      report: { degradations: 0 },
    });
  });
});
