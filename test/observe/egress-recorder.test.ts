import { describe, expect, it } from 'vitest';
import type {
  ConnectionFact,
  Destination,
  EgressLog,
  NameTable,
  Verdict,
} from '../../src/egress/egress.ts';
import { EgressRecorder } from '../../src/observe/egress-recorder.ts';
import type { Event, NetworkEvent } from '../../src/observe/event.ts';
import { UNKNOWN_PROGRAM } from '../../src/observe/event.ts';
import type { Recorder, Recording } from '../../src/observe/recorder.ts';
import { eventLine, newRecorder, programLine } from './lines.ts';

const ALLOWED = { isAllowed: true, rule: 'policy.yaml:3:5 net.allow: example.org' };
const REFUSED = { isAllowed: false, rule: null, hint: '--allow-net evil.example:443' };
const EINPROGRESS = 115;
const ENETUNREACH = 101;

interface Scene {
  readonly recorder: Recorder;
  readonly log: EgressLog;
}

function open({ fake = '198.18.0.7', nowMs = (): number => 1000 } = {}): Scene {
  const recorder = newRecorder();
  const names: NameTable = {
    addressOf: (name) => (name === 'example.org' ? fake : undefined),
    nameOf: (address) => (address === fake ? 'example.org' : undefined),
  };
  const ranges = ['198.18.0.0/15', '10.1.0.0/16', 'fd00:0:0:0:0:0:0:0/8'];
  const hostPorts = [{ range: '127.0.0.1/32', from: 5432, to: 5433 }];
  const decide = ({ name }: Destination): Verdict => (name === 'example.org' ? ALLOWED : REFUSED);
  const log = recorder.openEgress({ ranges, hostPorts, names, decide, nowMs }, EgressRecorder);
  recorder.feed(programLine(1, 0, '/usr/bin/sh') + programLine(2, 1, '/usr/bin/curl'));
  return { recorder, log };
}

function connection(more: Partial<ConnectionFact> = {}): ConnectionFact {
  return {
    door: 'http',
    destination: { protocol: 'tcp', name: 'example.org', port: 443 },
    address: '192.0.2.1',
    verdict: ALLOWED,
    outcome: 'ok',
    sent: 10,
    received: 200,
    startedMs: 1,
    durationMs: 5,
    ...more,
  };
}

function socketLine(program: number, port: number, address: string, atMs = 900): string {
  return `{"s":[${program},${port},"${address}",${atMs}]}\n`;
}

function networkOf({ events }: Pick<Recording, 'events'>): NetworkEvent[] {
  return events.filter((event: Event): event is NetworkEvent => event.kind === 'network');
}

describe('EgressRecorder', () => {
  it('shows a connection through the proxy once, by its name, with its program', () => {
    const { recorder, log } = open();
    recorder.feed(
      eventLine({ op: 'connect', path: 'tcp:127.0.0.1:3128', program: 2 }) +
        socketLine(2, 40_001, 'tcp:127.0.0.1:3128'),
    );
    log.connection(connection({ peerPort: 40_001 }));
    const recording = recorder.finish();
    expect(networkOf(recording)).toEqual([
      {
        kind: 'network',
        op: 'connect',
        family: 'tcp',
        host: 'example.org',
        port: 443,
        basis: 'performed',
        outcome: 'ok',
        program: 2,
        count: 1,
        atMs: 995,
      },
    ]);
    expect(recording.damagedLines).toBe(0);
  });

  it('finds the program when the helper tells of it after the door does', () => {
    const { recorder, log } = open();
    log.connection(connection({ peerPort: 40_001 }));
    recorder.feed(eventLine({ op: 'read', path: '/etc/hosts' }));
    recorder.feed(socketLine(2, 40_001, 'tcp:127.0.0.1:3128'));
    expect(networkOf(recorder.finish())[0]?.program).toBe(2);
  });

  it('translates a connect to an address that stands for a name', () => {
    const { recorder, log } = open({ fake: '198.19.4.4' });
    recorder.feed(
      eventLine({ op: 'connect', path: 'tcp:198.19.4.4:443', program: 2, errno: EINPROGRESS }) +
        eventLine({ id: 2, op: 'connect', path: 'tcp:[::ffff:198.19.4.4]:443', program: 2 }) +
        eventLine({ id: 3, op: 'connect', path: 'udp:198.19.4.4:443', program: 2 }) +
        socketLine(2, 40_002, 'tcp:[::ffff:198.19.4.4]:443') +
        '{"c":[[1,3],[2,2]]}\n',
    );
    log.connection(connection({ door: 'transparent', peerPort: 40_002 }));
    const recording = recorder.finish();
    expect(networkOf(recording)).toMatchObject([{ host: 'example.org', port: 443, program: 2 }]);
    expect(JSON.stringify(recording.events)).not.toContain('198.19');
    expect(recording.damagedLines).toBe(0);
  });

  it('keeps what was on its way to a door that never told of it', () => {
    const { recorder } = open();
    recorder.feed(eventLine({ op: 'connect', path: 'tcp:198.18.0.7:80', errno: EINPROGRESS }));
    expect(networkOf(recorder.finish())).toMatchObject([
      { host: 'example.org', port: 80, outcome: 'EINPROGRESS', basis: 'observed', program: 1 },
    ]);
  });

  it('says of what was on its way to a place that is refused, that it was', () => {
    const { recorder } = open();
    recorder.feed(eventLine({ op: 'connect', path: 'tcp:10.1.0.9:80', errno: EINPROGRESS }));
    expect(networkOf(recorder.finish())).toMatchObject([
      { host: '10.1.0.9', outcome: 'EACCES', decision: { rule: null, layer: 'egress' } },
    ]);
  });

  it('keeps by its name what failed before it came to a door', () => {
    const { recorder } = open();
    recorder.feed(eventLine({ op: 'connect', path: 'tcp:198.18.0.7:80', errno: 13 }));
    expect(networkOf(recorder.finish())).toMatchObject([
      { host: 'example.org', outcome: 'EACCES' },
    ]);
  });

  it('says that nothing allows an address which has no way to a door', () => {
    const { recorder } = open();
    recorder.feed(eventLine({ op: 'connect', path: 'tcp:192.0.2.9:22', errno: ENETUNREACH }));
    expect(networkOf(recorder.finish())).toMatchObject([
      { host: '192.0.2.9', outcome: 'ENETUNREACH', decision: { rule: null, layer: 'egress' } },
    ]);
  });

  it("leaves the run's own loopback alone", () => {
    const { recorder } = open();
    recorder.feed(
      eventLine({ op: 'connect', path: 'tcp:127.0.0.1:8080' }) +
        eventLine({ id: 2, op: 'connect', path: 'tcp:127.0.0.1:3128', errno: 111 }),
    );
    expect(networkOf(recorder.finish())).toMatchObject([
      { host: '127.0.0.1', port: 8080, outcome: 'ok' },
      { host: '127.0.0.1', port: 3128, outcome: 'ECONNREFUSED' },
    ]);
  });

  it("calls a port of loopback that leads to the host the host's, once", () => {
    const { recorder, log } = open();
    const destination = { protocol: 'tcp', address: '127.0.0.1', port: 5432 } as const;
    recorder.feed(
      eventLine({ op: 'connect', path: 'tcp:127.0.0.1:5432' }) +
        eventLine({ id: 2, op: 'connect', path: 'tcp:127.0.0.1:5434' }),
    );
    log.connection(connection({ door: 'transparent', destination }));
    expect(networkOf(recorder.finish())).toMatchObject([
      { host: '127.0.0.1', port: 5434, outcome: 'ok' },
      { host: 'host-loopback', port: 5432, outcome: 'ok' },
    ]);
  });

  it('records refused connections with the rule and the flag that would allow them', () => {
    const { recorder, log } = open();
    const destination = { protocol: 'tcp', name: 'evil.example', port: 443 } as const;
    log.connection(connection({ destination, verdict: REFUSED, outcome: 'refused' }));
    const rule = 'policy.yaml:6:5 net.deny: *.example';
    const verdict = { isAllowed: false, rule };
    log.connection(connection({ destination, verdict, outcome: 'refused' }));
    const recording = recorder.finish();
    expect(networkOf(recording)).toMatchObject([
      { outcome: 'EACCES', decision: { rule: null, layer: 'egress' }, program: UNKNOWN_PROGRAM },
      { outcome: 'EACCES', decision: { rule, layer: 'egress' } },
    ]);
    expect(recording.egress?.hints.get('tcp:evil.example:443')).toBe(
      '--allow-net evil.example:443',
    );
    expect(recorder.counters.refused).toBe(2);
  });

  it('records how a dial ended', () => {
    const { recorder, log } = open();
    log.connection(connection({ outcome: 'ETIMEDOUT' }));
    const [event] = networkOf(recorder.finish());
    expect(event).toMatchObject({ outcome: 'ETIMEDOUT' });
    expect(event).not.toHaveProperty('decision');
  });

  it('records questions, by connected and by bound sockets', () => {
    const { recorder, log } = open();
    const question = { type: 'A', atMs: 1, answer: 'NOERROR', verdict: ALLOWED };
    recorder.feed(
      eventLine({ op: 'connect', path: 'udp:127.0.0.53:53', program: 2 }) +
        socketLine(2, 5001, 'udp:127.0.0.53:53') +
        eventLine({ id: 2, op: 'bind', path: 'udp:0.0.0.0:0', target: '5002', program: 1 }),
    );
    log.question({ ...question, name: 'example.org', peerPort: 5001 });
    log.question({ ...question, name: 'example.org', type: 'AAAA', peerPort: 5001 });
    log.question({ ...question, name: 'nowhere.example.org', peerPort: 5002, answer: 'NXDOMAIN' });
    log.question({ ...question, name: 'odd:name/.org', answer: 'REFUSED', verdict: REFUSED });
    const asked = networkOf(recorder.finish()).filter(({ op }) => op === 'resolve');
    expect(asked).toMatchObject([
      { family: 'dns', host: 'example.org', outcome: 'ok', program: 2, count: 2 },
      { host: 'nowhere.example.org', outcome: 'ENOTFOUND', program: 1 },
      { host: 'odd%3aname%2f.org', outcome: 'EACCES', program: UNKNOWN_PROGRAM },
    ]);
    expect(asked[0]).not.toHaveProperty('port');
  });

  it('names no program where one of several could have had the port', () => {
    const { recorder, log } = open();
    recorder.feed(
      socketLine(1, 40_003, 'tcp:127.0.0.1:3128', 980) +
        socketLine(2, 40_003, 'tcp:127.0.0.1:3128', 990),
    );
    log.connection(connection({ peerPort: 40_003 }));
    expect(networkOf(recorder.finish())[0]?.program).toBe(UNKNOWN_PROGRAM);
  });

  it('tells programs apart that had the same port one after another', () => {
    const { recorder, log } = open({ nowMs: () => 5000 });
    recorder.feed(
      socketLine(1, 40_003, 'tcp:127.0.0.1:3128', 100) +
        socketLine(2, 40_003, 'tcp:127.0.0.1:3128', 4990),
    );
    log.connection(connection({ peerPort: 40_003 }));
    log.connection(connection({ peerPort: 40_003, durationMs: 4800 }));
    const programs = networkOf(recorder.finish()).map(({ program }) => program);
    expect(programs).toEqual([2, 1]);
  });

  it('adds up what went where', () => {
    const { recorder, log } = open();
    log.connection(connection());
    log.connection(connection({ door: 'socks', address: '192.0.2.2', note: 'cut: expired' }));
    expect(recorder.finish().egress?.connections).toEqual([
      {
        endpoint: 'tcp:example.org:443',
        count: 2,
        refused: 0,
        sent: 20,
        received: 400,
        durationMs: 10,
        addresses: ['192.0.2.1', '192.0.2.2'],
        doors: ['http', 'socks'],
        rules: [ALLOWED.rule],
        notes: ['cut: expired'],
      },
    ]);
  });

  it('takes credentials out of names, notes and hints', () => {
    const { recorder, log } = open();
    const token = `ghp_${'aB3dE6gH9j'.repeat(4).slice(0, 36)}`;
    const name = `${token}.example.net`;
    const rule = `net.deny: ${name}`;
    const verdict = { ...REFUSED, rule, hint: `--allow-net ${name}:80` };
    const destination = { protocol: 'tcp', name, port: 80 } as const;
    const note = `GET /?token=${token}`;
    log.connection(connection({ destination, verdict, outcome: 'refused', note }));
    log.question({ name, type: 'A', atMs: 1, answer: 'NXDOMAIN', verdict });
    const { events, egress } = recorder.finish();
    const told = JSON.stringify([events, egress?.connections, [...(egress?.hints ?? [])]]);
    expect(told).toContain('[redacted]');
    expect(told).not.toContain('aB3dE6gH9j');
  });

  it('gives a refusal of the broker its rule', () => {
    const { recorder, log } = open();
    const destination = { protocol: 'tcp', address: '192.0.2.5', port: 80 } as const;
    const verdict = { isAllowed: false, rule: 'net.deny: 192.0.2.0/24' };
    log.connection(connection({ door: 'broker', destination, verdict, outcome: 'refused' }));
    recorder.feed(eventLine({ op: 'connect', path: 'tcp:192.0.2.5:80', errno: 13, rule: -2 }));
    expect(networkOf(recorder.finish())).toMatchObject([
      { host: '192.0.2.5', program: 1, decision: { rule: verdict.rule, layer: 'egress' } },
    ]);
  });

  it('stays small whatever the program does', () => {
    const { recorder, log } = open();
    for (let at = 0; at < 20_000; at++) {
      const destination = { protocol: 'tcp', name: `h${at}.example.org`, port: 80 } as const;
      log.connection(connection({ destination, peerPort: at }));
      if (at % 100 === 0)
        recorder.feed(
          Array.from({ length: 100 }, (_, more) =>
            socketLine(2, (at + more) % 65_536, `tcp:127.0.0.1:${3128}`),
          ).join(''),
        );
    }
    const { egress, damagedLines } = recorder.finish();
    expect(egress?.connections).toHaveLength(1000);
    expect(damagedLines).toBe(0);
  });

  it('takes lines that no helper writes for damaged', () => {
    const { recorder } = open();
    recorder.feed('{"s":[1,70000,"tcp:127.0.0.1:80",1]}\n{"s":[1,2]}\n{"s":["a",1,"x",1]}\n');
    expect(recorder.finish().damagedLines).toBe(3);
  });
});
