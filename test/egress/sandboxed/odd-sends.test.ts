import { expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Evidence } from '../../../src/evidence/evidence.ts';
import { describeForEachPerson } from '../../e2e/as-user.ts';
import { usePlaces } from '../../e2e/place.ts';
import { fixture, PYTHON } from '../../e2e/run-assay.ts';
import { runInWorld, WEB } from './world.ts';

const lines = (text: string): string[] => text.split('\n').filter(Boolean);
const OUTCOMES = [
  'sendto ENETUNREACH',
  'sendto6 ENETUNREACH',
  'sendmsg ENETUNREACH',
  'sendmmsg ENETUNREACH',
  'named sent',
  'own sent',
  'probe sent',
  'raw EPERM',
  'icmp EPERM',
  'ping EACCES',
  'ping6 EACCES',
  'packet EAFNOSUPPORT',
  'vsock EAFNOSUPPORT',
  'bluetooth EAFNOSUPPORT',
];

describeForEachPerson('what is sent without a connection', (person) => {
  const makePlace = usePlaces(person);
  const run = async (more: (out: string) => readonly string[], tries: readonly string[] = []) => {
    const place = makePlace();
    const out = `${place.makeDir('out')}/run.yaml`;
    const { stdout } = await runInWorld({
      place,
      flags: ['--quiet', '--allow-net', 'web.example.org', ...more(out)],
      command: [PYTHON, '-c', fixture('odd-sends.py'), 'web.example.org', ...tries],
      zone: { 'web.example.org': [WEB] },
    });
    return { place, ends: lines(stdout) };
  };

  it('goes nowhere, and is in the record with where it was to go', async () => {
    const { place, ends } = await run((out) => ['--profile', out]);
    expect(ends).toEqual(OUTCOMES);
    const { entries, refusals, coverage } = parse(place.read('out/run.evidence.yaml')) as Evidence;
    const inet = Object.entries(entries.network)
      // The port of the probe is another one each time.
      .filter(([at]) => !/^(?:unix:|dns:|udp:127\.0\.0\.1:(?:\d{4,}|\$))/.test(at))
      .filter(([, { connect }]) => connect)
      .map(([at, { connect = {} }]) => `${at} ${Object.keys(connect).join()}`);
    expect(inet.sort()).toEqual(
      [
        'udp:203.0.113.7:53 ENETUNREACH',
        'udp:[2001:db8::7]:53 ENETUNREACH',
        'udp:203.0.113.9:123 ENETUNREACH',
        'udp:203.0.113.10:1 ENETUNREACH',
        'udp:203.0.113.8:1 ENETUNREACH',
        'udp:web.example.org:443 ECONNREFUSED',
        'udp:127.0.0.1:9 ok',
        'raw:* EPERM',
        'icmp:* EACCES,EPERM',
        'packet:* EAFNOSUPPORT',
        'vsock:* EAFNOSUPPORT',
        'af31:* EAFNOSUPPORT',
      ].sort(),
    );
    const refused = refusals.map(({ subject }) => subject);
    expect(refused).toEqual(expect.arrayContaining(['raw:*', 'vsock:*', 'udp:203.0.113.7:53']));
    expect(coverage.network.status).toBe('complete');
  });

  it('ends in the same way where nothing is recorded', async () => {
    expect((await run(() => [])).ends).toEqual(OUTCOMES);
  });

  it('is refused and recorded without a network of its own as well', async () => {
    const { place, ends } = await run(
      (out) => ['--layers=-net', '--profile', out],
      ['raw', 'ping', 'packet', 'vsock'],
    );
    expect(ends).toEqual([
      'raw EACCES',
      'ping EACCES',
      'packet EAFNOSUPPORT',
      'vsock EAFNOSUPPORT',
    ]);
    const { refusals } = parse(place.read('out/run.evidence.yaml')) as Evidence;
    const refused = refusals.map(({ subject }) => subject).filter((one) => one.endsWith('*'));
    expect(refused.sort()).toEqual(['icmp:*', 'packet:*', 'raw:*', 'vsock:*']);
  });

  // Whether the kernel would let the user ping is another matter: the run has no network.
  it('is refused by the run itself where it has no network at all', async () => {
    const place = makePlace();
    const out = `${place.makeDir('out')}/run.yaml`;
    const { stdout } = await runInWorld({
      place,
      flags: ['--quiet', '--layers=-net', '--profile', out],
      command: [PYTHON, '-c', fixture('odd-sends.py'), 'web.example.org', 'ping'],
    });
    expect(lines(stdout)).toEqual(['ping EACCES']);
    const { refusals } = parse(place.read('out/run.evidence.yaml')) as Evidence;
    expect(refusals).toMatchObject([{ subject: 'icmp:*', outcome: 'EACCES' }]);
  });
});
