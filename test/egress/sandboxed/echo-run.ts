// One sandboxed run whose doors are served by something tiny: each says which door it is and where the program wanted to
// go, and echoes. Bundled by a test, since it has to run as an ordinary user, too.
import type { Server } from 'node:net';
import { FakeAddresses } from '../../../src/egress/dns/name-table.ts';
import type { Doors, DoorService } from '../../../src/egress/doors.ts';
import { makeResolver } from '../../../src/egress/resolver.ts';
import { makeEgressRules } from '../../../src/egress/rules.ts';
import { serveEgress } from '../../../src/egress/serve-egress.ts';
import { SYSTEM_CLOCK } from '../../../src/egress/system-clock.ts';
import { guessFacts } from '../../../src/host/guess-facts.ts';
import { readHostTree } from '../../../src/launch/host-tree.ts';
import { runSandbox } from '../../../src/launch/run.ts';
import { scopedTmpPath } from '../../../src/launch/scoped-tmp.ts';
import { ALL_LAYERS } from '../../../src/plan/layers.ts';
import { type Layer, LAYERS } from '../../../src/plan/plan.ts';
import type { Policy } from '../../../src/policy/policy.ts';
import { resolvePolicy } from '../../../src/policy/combine.ts';

/** What the test asks for, as JSON in the first argument. */
export interface EchoRequest {
  readonly net: readonly string[];
  readonly argv: readonly string[];
  readonly without?: readonly Layer[];
  /** The doors are the real ones, and all rules end after so long. */
  readonly expiresInMs?: number;
  /** Node without the handles below its documented modules. */
  readonly isDocumentedOnly?: boolean;
  /** What the service does wrong: nothing, or throw, at the start or when somebody comes. */
  readonly crash?: 'start' | 'connection' | 'later' | undefined;
}

export interface EchoResult {
  readonly exitCode: number;
  readonly status: string | undefined;
  readonly reason: string | undefined;
  readonly degradations: readonly string[];
  readonly problems: readonly string[];
}

function serveEcho(door: string, server: Server, crash: EchoRequest['crash']): void {
  server.on('connection', (socket) => {
    if (crash === 'connection') throw new Error('crashed on purpose');
    if (crash === 'later') setTimeout(() => void Promise.reject(new Error('crashed later')), 1);
    socket.on('error', () => undefined);
    socket.write(`${door} ${socket.localAddress} ${socket.localPort}\n`);
    socket.pipe(socket);
  });
}

function serve(
  { proxy, transparent, dns, dnsTcp }: Doors,
  crash: EchoRequest['crash'],
): DoorService {
  if (crash === 'start') throw new Error('crashed on purpose');
  serveEcho('proxy', proxy, crash);
  for (const server of transparent) serveEcho('transparent', server, crash);
  serveEcho('dnsTcp', dnsTcp, crash);
  dns.on('message', (bytes, peer) => dns.send(`dns ${bytes.toString()}`, peer.port, peer.address));
  return { close: () => undefined };
}

/** As a run has them, with rules that end. */
function serveRules(doors: Doors, policy: Policy): DoorService {
  const rules = makeEgressRules({ policy, clock: SYSTEM_CLOCK });
  const outside = { lookup: async () => [], close: () => undefined };
  const log = { question: () => undefined, connection: () => undefined };
  const resolver = makeResolver({ rules, outside });
  const names = new FakeAddresses();
  return serveEgress(doors, { rules, names, resolver, log, now: () => Date.now() });
}

async function main({ net, argv, without = [], ...rest }: EchoRequest): Promise<EchoResult> {
  if (rest.isDocumentedOnly) Reflect.deleteProperty(process, 'binding');
  const uid = process.getuid?.() ?? 0;
  const cwd = process.cwd();
  const variables = {
    cwd,
    home: process.env['HOME'] ?? cwd,
    tmpdir: scopedTmpPath(uid, process.pid),
    user: 'tester',
  };
  const policy = resolvePolicy({ variables });
  const rules = net.map((text) => ({
    effect: 'allow' as const,
    text,
    origin: { source: 'test', key: 'net.allow', text },
    expiresAtMs: rest.expiresInMs === undefined ? undefined : Date.now() + rest.expiresInMs,
  }));
  const all = { ...policy, net: [...policy.net, ...rules] };
  const left = new Set(LAYERS.filter((layer) => !without.includes(layer)));
  const result = await runSandbox({
    argv,
    env: [['PATH', '/usr/bin:/bin']],
    policy: all,
    variables,
    host: guessFacts(),
    tree: readHostTree(),
    choice: { ...ALL_LAYERS, left },
    announce: () => '',
    loadDoors: async () => (doors) =>
      rest.expiresInMs === undefined ? serve(doors, rest.crash) : serveRules(doors, all),
  });
  return {
    exitCode: result.exitCode,
    status: result.plan.doors?.status,
    reason: result.plan.doors?.reason,
    degradations: result.plan.degradations.map(({ rule, reason }) => `${rule}: ${reason}`),
    problems: result.doorProblems,
  };
}

void main(JSON.parse(process.argv[2] ?? '') as EchoRequest).then((result) => {
  process.stderr.write(`\n${JSON.stringify(result)}`);
});
