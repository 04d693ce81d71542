import { expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Evidence } from '../../../src/evidence/evidence.ts';
import { describeForEachPerson } from '../../e2e/as-user.ts';
import { usePlaces } from '../../e2e/place.ts';
import { PYTHON } from '../../e2e/run-assay.ts';
import { OTHER, runInWorld, WEB } from './world.ts';

const zone = { 'web.example.org': [WEB], 'api.example.net': [OTHER], 'no.example.com': [WEB] };

const POLICY = `api_version: assay/v1
extends: [coding-agent]
net:
  allow: [web.example.org, "*.example.net:8080", "${OTHER}:80"]
  deny: [no.example.com]
`;

describeForEachPerson('the record of a run with doors', (person) => {
  const makePlace = usePlaces(person);

  async function record(script: string, more: readonly string[] = []) {
    const place = makePlace();
    const policy = place.write('policy.yaml', POLICY);
    const out = `${place.makeDir('out')}/run.yaml`;
    const flags = ['--quiet', '--policy', policy, '--profile', out, ...more];
    place.write('work/run.sh', script);
    const outcome = await runInWorld({ place, flags, command: ['/bin/sh', 'run.sh'], zone });
    const evidence = parse(place.read('out/run.evidence.yaml')) as Evidence;
    return { ...outcome, evidence };
  }

  it('has every door with its program', async () => {
    const python = `import socket; s = socket.create_connection(("api.example.net", 8080)); s.send(b"GET / HTTP/1.0\\r\\n\\r\\n"); s.recv(99)`;
    const { evidence } = await record(`
      curl -sS http://web.example.org/
      curl -sS -x socks5h://127.0.0.1:3128 http://web.example.org:8080/
      ${PYTHON} -c '${python}'
      curl -sS --noproxy '*' http://${OTHER}/
    `);
    const { network } = evidence.entries;
    const curl = [expect.stringMatching(/\/curl$/) as string];
    const snake = [expect.stringMatching(/\/python[\d.]*$/) as string];
    expect(network).toMatchObject({
      'tcp:web.example.org:80': { connect: { ok: curl } },
      'tcp:web.example.org:8080': { connect: { ok: curl } },
      'dns:api.example.net': { resolve: { ok: snake } },
      'tcp:api.example.net:8080': { connect: { ok: snake } },
      [`tcp:${OTHER}:80`]: { connect: { ok: curl } },
    });
    const { connections } = evidence.run;
    expect(connections['tcp:web.example.org:80']).toMatchObject({
      count: 1,
      doors: ['http'],
      addresses: [WEB],
    });
    expect(connections['tcp:web.example.org:8080']?.doors).toEqual(['socks']);
    expect(connections['tcp:api.example.net:8080']).toMatchObject({
      doors: ['transparent'],
      addresses: [OTHER],
    });
    expect(connections['tcp:api.example.net:8080']?.bytes_sent).toBeGreaterThanOrEqual(18);
    expect(connections['tcp:api.example.net:8080']?.bytes_received).toBeGreaterThan(0);
    expect(evidence.coverage.network).toEqual({ status: 'complete', reasons: [] });
    expect(evidence.controls.egress).toMatchObject({ verdict: 'held', refused: 0 });
    expect(JSON.stringify(evidence.entries)).not.toMatch(/198\.1[89]\.|:3128/);
  });

  it('has what was refused, with the rule', async () => {
    const { evidence } = await record(`
      curl -sS http://no.example.com/
      curl -sS --noproxy '*' http://no.example.com/
      curl -sS --noproxy '*' http://api.example.net:81/
      curl -sS --noproxy '*' http://192.0.2.7/
      exit 0
    `);
    const refused = evidence.refusals.map(({ op, subject, rule }) => `${op} ${subject} ${rule}`);
    expect(refused.filter((line) => !line.includes('unix:'))).toEqual([
      'resolve dns:no.example.com net.deny: no.example.com',
      'connect tcp:192.0.2.7:80 null',
      'connect tcp:api.example.net:81 null',
      'connect tcp:no.example.com:80 net.deny: no.example.com',
    ]);
    expect(evidence.controls.egress.verdict).toBe('refused attempts');
    expect(evidence.statements).toContain('No network connection was made.');
  });

  it('is the same for equal runs, although addresses inside and ports differ', async () => {
    const fetches = [
      `curl -sS --noproxy '*' http://web.example.org/`,
      `curl -sS --noproxy '*' http://api.example.net:8080/`,
      `curl -sS http://web.example.org:8080/`,
      `curl -sS --noproxy '*' http://no.example.com/`,
    ];
    const runs = [
      await record([...fetches, 'exit 0'].join('\n')),
      await record([...fetches.toReversed(), 'exit 0'].join('\n')),
      await record([...fetches, ...fetches, 'exit 0'].join('\n')),
    ];
    const [first, ...others] = runs.map(({ evidence: { run_ids: ids, entries } }) => ({
      ids,
      network: entries.network,
    }));
    for (const other of others) expect(other).toEqual(first);
  });

  it('has connections that the broker makes, by name', async () => {
    const script = `
      curl -sS http://web.example.org/
      curl -sS --noproxy '*' http://web.example.org:8080/
      curl -sS --noproxy '*' http://no.example.com/
      curl -sS --noproxy '*' http://${WEB}:81/
      exit 0
    `;
    const { evidence } = await record(script, ['--layers=-net']);
    const inet = Object.entries(evidence.entries.network).filter(([at]) => !at.startsWith('unix:'));
    const curl = [expect.stringMatching(/\/curl$/) as string];
    expect(Object.fromEntries(inet)).toEqual({
      'dns:no.example.com': { resolve: { EACCES: curl } },
      'dns:web.example.org': { resolve: { ok: curl } },
      [`tcp:${WEB}:81`]: { connect: { EACCES: curl } },
      'tcp:web.example.org:80': { connect: { ok: curl } },
      'tcp:web.example.org:8080': { connect: { ok: curl } },
    });
    expect(evidence.run.connections['tcp:web.example.org:8080']?.doors).toEqual(['broker']);
  });

  it('has every connection, also where assay may hold few open', async () => {
    const place = makePlace();
    const out = `${place.makeDir('out')}/run.yaml`;
    const prefix = [...person.prefix, '/bin/sh', '-c', 'ulimit -n 256; exec "$@"', 'sh'];
    const held = [
      'import socket',
      'held = [socket.create_connection(("127.0.0.1", 3128)) for _ in range(240)]',
      'for at, one in enumerate(held): one.sendall(b"CONNECT no%d.test:1 HTTP/1.1\\r\\n\\r\\n" % at)',
      'for one in held: one.recv(1)',
    ];
    await runInWorld({
      place: Object.create(place, { person: { value: { ...person, prefix } } }) as typeof place,
      flags: ['--quiet', '--allow-net', 'web.example.org', '--profile', out],
      command: [PYTHON, '-c', held.join('\n')],
      zone,
    });
    const { run } = parse(place.read('out/run.evidence.yaml')) as Evidence;
    const counts = Object.values(run.connections).map(({ refused }) => refused);
    expect(counts.reduce((sum, count) => sum + count)).toBe(240);
  });

  it('has a connection that is open when the run ends', async () => {
    const hold = `import os, socket
s = socket.create_connection(("web.example.org", 80))
s.send(b"GET / HTTP/1.1\\r\\nhost: web.example.org\\r\\n\\r\\n")
s.recv(99)
os._exit(0)`;
    const { evidence } = await record(`${PYTHON} -c '${hold}'`);
    expect(evidence.entries.network['tcp:web.example.org:80']?.['connect']).toHaveProperty('ok');
    expect(evidence.run.connections['tcp:web.example.org:80']).toMatchObject({ count: 1 });
  });

  it('of a dry run lists what would be refused, and lets it through', async () => {
    const place = makePlace();
    const text =
      'api_version: assay/v1\nextends: [coding-agent]\nnet: { allow: [web.example.org] }\n';
    const { stdout, stderr, code } = await runInWorld({
      place,
      flags: ['--dry-run', '--policy', place.write('policy.yaml', text)],
      command: ['/bin/sh', '-c', 'curl -sS http://web.example.org/ http://api.example.net/'],
      zone,
    });
    expect(stdout).toBe(`${WEB}:80 for web.example.org\n${OTHER}:80 for api.example.net\n`);
    const listed = stderr
      .split('\n')
      .filter((line) => /would refuse connect tcp:[\d.]+:/.test(line));
    expect(listed).toEqual([expect.stringContaining(`would refuse connect tcp:${OTHER}:80 `)]);
    expect(code).toBe(4);
  });
});
