import { join } from 'node:path';

import { expect, it } from 'vitest';

import { describeForEachPerson } from './as-user.ts';
import { usePlaces } from './place.ts';
import { ASSAY, fixturePath, PYTHON, runBare } from './run-assay.ts';

/** What `.ci/long` runs on other kernels, too. */
const TEN = join(import.meta.dirname, '../../scripts/kernels/guest/ten.py');

const HELD = ['3 read-refused refused', '4 write-refused refused', '5 hook-refused refused'];
const WORK = [
  '1 read works',
  '2 write works',
  '7 subprocess works',
  '8 commit works',
  '9 record works',
];

interface Host {
  readonly title: string;
  /** Ceilings that are 0; none is the host as it is. */
  readonly closed?: string;
  readonly uid?: number;
  /** What works here besides. */
  readonly also: readonly string[];
  readonly status: 'full' | 'degraded';
}

const HOSTS: readonly Host[] = [
  { title: 'this host', also: ['6 loopback works', '10 exec works'], status: 'full' },
  { title: 'no user namespaces', closed: 'user', uid: 54_321, also: [], status: 'degraded' },
  { title: 'no network namespaces', closed: 'net', uid: 54_321, also: [], status: 'degraded' },
  {
    title: 'no user namespaces for root',
    closed: 'user',
    uid: 0,
    also: ['6 loopback works'],
    status: 'full',
  },
];

describeForEachPerson('the ten programs', (person) => {
  const makePlace = usePlaces(person);

  it.each(HOSTS)('with $title: work, are refused, or are said to fail', async (host) => {
    const { closed, uid = 0, also, status } = host;
    const place = makePlace();
    const around = [PYTHON, fixturePath('restricted-host.py'), String(uid), closed ?? ''];
    const outside = place.makeDir('outside');
    const command = [...(closed ? around : []), PYTHON, TEN, ASSAY, outside];
    const { code, stdout, stderr } = await runBare({ place, command });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const results = stdout
      .split('\n')
      .map((line) => line.replace(/^RESULT /, ''))
      .filter(Boolean);
    const starts = (text: string): boolean => results.some((line) => line.startsWith(text));
    expect([...WORK, ...HELD, ...also].filter((text) => !starts(text))).toEqual([]);
    expect(results.filter((line) => / OPEN /.test(line))).toEqual([]);
    expect(results).toContain(`doctor ${status} agrees`);
    if (!also.includes('6 loopback works')) expect(results).toContain('said before');
    if (!also.includes('10 exec works')) {
      expect(results).toContain('10 exec FAILS 2');
      expect(results.find((line) => line.startsWith('exec-said'))).toMatch(
        new RegExp(`local: no ${String(closed)} namespace: .*user\\.max_${String(closed)}_namesp`),
      );
    }
  });
});
