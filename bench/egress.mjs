// What the doors to the network cost: beside the shortest CONNECT proxy and the shortest relay that node can be.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { quietEnvironment, ROOT } from './measure.mjs';
import { installSandboxRuntime } from './srt.mjs';
import { makeTable, median } from './tables.mjs';

const BULK_MIB = 64;

async function startServer(file, kind, port = 0) {
  const child = spawn(process.execPath, [file, kind, String(port)], {
    env: quietEnvironment(),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = await once(child.stdout, 'data');
  return { child, ports: JSON.parse(line.toString()) };
}

/** A connection to `port`, through CONNECT where `target` says where to. */
async function open(port, target) {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect');
  if (target === undefined) return socket;
  socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`);
  await once(socket, 'data');
  return socket;
}

async function timeFirstByte(port, target) {
  const from = performance.now();
  const socket = await open(port, target);
  socket.write('\x01');
  await once(socket, 'data');
  const took = performance.now() - from;
  socket.destroy();
  return took;
}

async function timeBulk(port, target) {
  const socket = await open(port, target);
  const from = performance.now();
  let left = BULK_MIB << 20;
  socket.on('data', (chunk) => (left -= chunk.length));
  socket.write(Buffer.from([2, BULK_MIB]));
  await once(socket, 'end');
  socket.destroy();
  if (left !== 0) throw new Error(`${left} bytes are missing`);
  return performance.now() - from;
}

/** Every way once a round, so that what else the machine does hits all alike. */
async function measure(ways, time, { rounds, warmup }) {
  const times = new Map(ways.map(({ name }) => [name, []]));
  for (let round = -warmup; round < rounds; round++)
    for (const { name, port, target } of ways) {
      const took = await time(port, target);
      if (round >= 0) times.get(name).push(took);
    }
  for (const list of times.values()) list.sort((one, other) => one - other);
  return times;
}

/** As on a machine without network namespaces; the directory of the program may be read. */
const BROKERED = ['sandbox', '--quiet', '--layers=-net'];

/** The times in milliseconds that bench/dialer.c or bench/door-client.mjs says, without its first ones. */
function runDialer(argv, cwd, warmup, env = {}) {
  const { status, stdout, stderr } = spawnSync(argv[0], argv.slice(1), {
    cwd,
    encoding: 'utf8',
    env: { ...quietEnvironment(), ...env },
  });
  if (status !== 0) throw new Error(`${argv.join(' ')} failed: ${stderr}`);
  const times = stdout.split('\n').filter(Boolean).slice(warmup);
  return times.map((ns) => Number(ns) / 1e6);
}

/** A program outside and one inside in turns, each with many connections. */
function measureBrokered({ dir, port, words, rounds, warmup }) {
  const inside = [join(ROOT, 'bin/assay.js'), ...BROKERED, '--allow-net', `127.0.0.1:${port}`];
  const ways = { bare: words, brokered: [...inside, '--', ...words] };
  const times = new Map(Object.keys(ways).map((name) => [name, []]));
  for (let round = 0; round < rounds; round++)
    for (const [name, argv] of Object.entries(ways))
      times.get(name).push(...runDialer(argv, dir, warmup));
  for (const list of times.values()) list.sort((one, other) => one - other);
  return times;
}

function* benchBrokered(bench, { scale, port }) {
  const dir = join(bench.path, 'brokered');
  mkdirSync(dir);
  const program = join(ROOT, 'bench/dialer.c');
  execFileSync('cc', ['-O2', '-Wall', '-Werror', '-o', join(dir, 'dialer'), program]);
  const rows = (bar) => [
    { name: 'bare', label: 'outside' },
    { name: 'brokered', label: 'by the broker', against: 'bare', bar },
  ];
  const rounds = Math.max(2, Math.round(8 * scale));
  const dials = ['./dialer', 'connect', String(port), '500'];
  yield makeTable(
    'connect() without a network namespace',
    measureBrokered({ dir, port, words: dials, rounds, warmup: 50 }),
    rows({ plusMs: 0.06 }),
    median,
  );
  const fetches = ['./dialer', 'bulk', String(port), String(BULK_MIB), '6'];
  yield makeTable(
    `${BULK_MIB} MiB without a network namespace`,
    measureBrokered({ dir, port, words: fetches, rounds, warmup: 1 }),
    rows({ ratio: 1 / 0.9 }),
  );
}

/** The words that run a client under sandbox-runtime, whose way out is a chain of programs; or why it cannot be had. */
function prepareSandboxRuntime(bench, words) {
  const srt = installSandboxRuntime(bench.scratch('srt-egress'));
  if ('problem' in srt) return srt;
  const settings = join(srt.cwd, 'egress.json');
  const network = { allowedDomains: ['localhost'], deniedDomains: [] };
  const filesystem = { denyRead: [], allowWrite: ['.'], denyWrite: [] };
  writeFileSync(settings, JSON.stringify({ network, filesystem }));
  const [node, cli] = srt.argv;
  const command = words.map((word) => `'${word}'`).join(' ');
  return { ...srt, argv: [node, cli, '--settings', settings, '-c', command] };
}

/** The same client in whole sandboxes, of ours and of others, where each connect() is looked at; and outside, with the plain proxy. */
function benchInside(bench, { scale, notes, port, plain }) {
  const dir = join(bench.path, 'inside');
  mkdirSync(dir);
  copyFileSync(join(ROOT, 'bench/door-client.mjs'), join(dir, 'door-client.mjs'));
  const count = 250;
  const client = (way) => [process.execPath, './door-client.mjs', way, String(port), String(count)];
  const ours = [join(ROOT, 'bin/assay.js'), 'sandbox', '--quiet', '--allow-net'];
  const inside = [...ours, `localhost:${port}`, '--'];
  const ways = {
    plain: { argv: client('proxy'), env: { http_proxy: `http://127.0.0.1:${plain}` } },
    proxy: { argv: [...inside, ...client('proxy')] },
    transparent: { argv: [...inside, ...client('plain')] },
  };
  const rows = [
    { name: 'plain', label: 'a plain CONNECT proxy in node, outside' },
    { name: 'proxy', label: 'the proxy door', against: 'plain' },
    { name: 'transparent', label: 'the plain door', against: 'plain' },
  ];
  const srt = prepareSandboxRuntime(bench, client('proxy'));
  if ('problem' in srt) notes.push(`sandbox-runtime's bridge was not measured: ${srt.problem}`);
  else {
    copyFileSync(join(dir, 'door-client.mjs'), join(srt.cwd, 'door-client.mjs'));
    ways.srt = { argv: srt.argv, cwd: srt.cwd };
    rows.push(
      { name: 'srt', label: `sandbox-runtime ${srt.version}'s bridge`, against: 'plain' },
      { name: 'proxy', label: 'the proxy door', against: 'srt', bar: { ratio: 1 } },
    );
  }
  const times = new Map(Object.keys(ways).map((name) => [name, []]));
  for (let round = 0; round < Math.max(2, Math.round(6 * scale)); round++)
    for (const [name, { argv, cwd = dir, env }] of Object.entries(ways))
      times.get(name).push(...runDialer(argv, cwd, 50, env));
  for (const list of times.values()) list.sort((one, other) => one - other);
  return makeTable('Connect and first byte, from inside a sandbox', times, rows);
}

export async function* benchEgress(bench, { scale, notes }) {
  const file = await bench.bundle('door-servers');
  const children = [];
  const start = async (kind, port) => {
    const { child, ports } = await startServer(file, kind, port);
    children.push(child);
    return ports;
  };
  try {
    const { upstream } = await start('upstream');
    const { plain } = await start('plain');
    const { relay } = await start('relay', upstream);
    const { proxy, transparent } = await start('ours', upstream);
    const target = `ok.test:${upstream}`;
    const ways = [
      { name: 'bare', port: upstream },
      { name: 'relay', port: relay },
      { name: 'plain', port: plain, target },
      { name: 'proxy', port: proxy, target },
      { name: 'transparent', port: transparent },
    ];
    // Until the engine has compiled what is used, on either side.
    const connects = { rounds: Math.round(1000 * scale), warmup: 1000 };
    yield makeTable(
      'Connect and first byte, on loopback',
      await measure(ways, timeFirstByte, connects),
      [
        { name: 'bare', label: 'no proxy' },
        { name: 'plain', label: 'a plain CONNECT proxy in node' },
        { name: 'proxy', label: 'the proxy door', against: 'plain', bar: { ratio: 1.2 } },
        { name: 'transparent', label: 'the plain door', against: 'plain', bar: { ratio: 1.2 } },
      ],
    );
    const bulks = { rounds: Math.max(10, Math.round(20 * scale)), warmup: 2 };
    // At least 90 % of the speed.
    const bar = { ratio: 1 / 0.9 };
    yield makeTable(`${BULK_MIB} MiB, on loopback`, await measure(ways, timeBulk, bulks), [
      { name: 'bare', label: 'no proxy' },
      { name: 'relay', label: 'a bare relay in node' },
      { name: 'proxy', label: 'the proxy door', against: 'relay', bar },
      { name: 'transparent', label: 'the plain door', against: 'relay', bar },
    ]);
    yield benchInside(bench, { scale, notes, port: upstream, plain });
    yield* benchBrokered(bench, { scale, port: upstream });
  } finally {
    for (const child of children) child.kill();
  }
}
