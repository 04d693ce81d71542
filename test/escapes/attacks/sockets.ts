import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Attack } from '../attack.ts';
import type { Fixture } from '../fixture.ts';
import { prints, printsSecret, reachesVictim } from '../marks.ts';

interface Row extends Partial<Attack> {
  readonly id: string;
  readonly title: string;
}

const workspace = () => ['--preset', 'coding-agent'];
/** The directory of the sockets may be read, which says nothing about connecting. */
const readable = (fixture: Fixture) => [
  '--preset',
  'coding-agent',
  '--allow-read',
  fixture.at('sock'),
];

function unix(row: Row): Attack {
  return {
    class: 'unix socket',
    control: ['broker', 'seccomp', 'mount'],
    flags: readable,
    isSuccess: printsSecret,
    ...row,
  };
}

export const UNIX_ATTACKS: readonly Attack[] = [
  unix({ id: 'unix-stream', title: 'connect to a socket outside' }),
  unix({ id: 'unix-workspace', title: 'connect to a socket in the workspace', flags: workspace }),
  unix({ id: 'unix-relative', title: 'connect by a relative path' }),
  unix({ id: 'unix-symlink', title: 'connect by a symlink' }),
  unix({ id: 'unix-proc-fd', title: 'connect by /proc/self/fd' }),
  unix({ id: 'unix-docker', title: "speak to a daemon's socket" }),
  unix({ id: 'unix-scm-rights', title: 'be given a descriptor of the secret' }),
  unix({
    id: 'unix-abstract',
    title: 'connect to an abstract socket',
    control: ['net', 'landlock', 'broker'],
  }),
  unix({
    id: 'unix-abstract-of-host',
    title:
      "connect to an abstract socket where the network is the host's, and Landlock has no scopes",
    control: ['broker'],
    flags: () => [...workspace(), '--layers=-net,landlock@5'],
  }),
  unix({
    id: 'unix-abstract-packets',
    title: 'the same by packets in sequence',
    control: ['broker'],
    flags: () => [...workspace(), '--layers=-net,landlock@5'],
  }),
  unix({
    id: 'unix-abstract-twin',
    title: 'the same by the name of a socket of our own of another type',
    control: ['broker'],
    flags: () => [...workspace(), '--layers=-net,landlock@5'],
  }),
  unix({ id: 'unix-dgram-sendto', title: 'sendto a datagram socket', isSuccess: reachesVictim }),
  unix({
    id: 'unix-dgram-sendmsg',
    title: 'sendmsg to a datagram socket',
    isSuccess: reachesVictim,
  }),
  unix({
    id: 'unix-dgram-sendmmsg',
    title: 'sendmmsg to a datagram socket',
    isSuccess: reachesVictim,
  }),
  unix({ id: 'unix-dgram-connect', title: 'connect a datagram socket', isSuccess: reachesVictim }),
  unix({
    id: 'unix-abstract-dgram',
    title: 'sendmsg to an abstract datagram socket',
    control: ['net', 'landlock', 'broker'],
    isSuccess: reachesVictim,
  }),
  unix({
    id: 'unix-moved-to-tmp',
    title: 'rename a socket of the workspace into $TMPDIR and connect there',
    control: ['broker'],
    flags: () => [...workspace(), '--layers=-mount'],
  }),
  unix({
    id: 'race-bind-swap',
    title: 'rename a socket of the workspace to where one of our own is being bound',
    control: ['broker', 'mount'],
    flags: workspace,
  }),
  unix({ id: 'race-connect-string', title: 'change the address while connecting' }),
];

function net(row: Row): Attack {
  return {
    class: 'network',
    control: ['net', 'landlock', 'seccomp'],
    isSuccess: printsSecret,
    ...row,
  };
}

/** The harness is the peer from outside: it connects to the port that the program announces. */
function listens(row: Row): Attack {
  return net({
    ...row,
    onLine(line, fixture) {
      const port = /^listening (\d+)$/.exec(line)?.[1];
      if (port === undefined) return;
      const peer = connect({ host: '127.0.0.1', port: Number(port) });
      peer.on('error', () => peer.destroy());
      peer.on('data', (data) => {
        if (String(data).includes(fixture.token)) fixture.notes.add('served');
        peer.destroy();
      });
    },
    async isSuccess(_result, fixture) {
      await sleep(50);
      return fixture.notes.has('served');
    },
  });
}

const lacksUdpLite = (fixture: Fixture) =>
  fixture.victimFact('udplite') === '' ? 'the kernel has no UDP-Lite' : undefined;

const lacksOwn = (fixture: Fixture) =>
  fixture.victimFact('own') === '' ? 'the machine has no address but loopback' : undefined;

/** Every host of the internet is allowed on that port; the machine's own address is not of it. */
function own(row: Row): Attack {
  return net({
    ...row,
    control: ['net', 'broker'],
    flags: (fixture) => ['--allow-net', `*:${fixture.victimFact('own_port')}`],
    vacuousWhen: lacksOwn,
  });
}

export const OWN_ADDRESS_ATTACKS: readonly Attack[] = [
  own({ id: 'net-own', title: "reach a service of the host at the host's own address" }),
  own({ id: 'net-own-proxy', title: 'the same through the proxy' }),
];

export const NETWORK_ATTACKS: readonly Attack[] = [
  net({ id: 'net-tcp', title: 'TCP to loopback' }),
  net({ id: 'net-tcp6', title: 'TCP over IPv6' }),
  net({ id: 'net-tcp-mapped', title: 'TCP to a mapped IPv4 address' }),
  net({ id: 'net-mptcp', title: 'MPTCP, which Landlock does not see' }),
  net({ id: 'net-fast-open', title: 'TCP Fast Open by sendto' }),
  net({ id: 'net-fast-open-message', title: 'TCP Fast Open by sendmsg' }),
  net({ id: 'net-udp-sendto', title: 'UDP by sendto', isSuccess: reachesVictim }),
  net({ id: 'net-udp-connect', title: 'UDP by connect', isSuccess: reachesVictim }),
  net({ id: 'net-udp-sendmmsg', title: 'UDP by sendmmsg', isSuccess: reachesVictim }),
  net({
    id: 'net-udplite',
    title: 'UDP-Lite',
    isSuccess: reachesVictim,
    vacuousWhen: lacksUdpLite,
  }),
  listens({ id: 'net-listen-unbound', title: 'listen without bind' }),
  listens({ id: 'net-listen-bound', title: 'listen on loopback' }),
  listens({ id: 'net-listen-mptcp', title: 'listen by MPTCP' }),
  net({
    id: 'net-families',
    title: 'open a socket of every other family',
    control: ['seccomp'],
    isSuccess: prints(/opened family/),
  }),
  net({
    id: 'net-vsock',
    title: 'open a socket to the hypervisor',
    control: ['seccomp'],
    isSuccess: prints(/opened family 40/),
  }),
  net({
    id: 'net-raw',
    title: 'send a packet of our own making',
    control: ['seccomp', 'user'],
    needs: 'root',
    isSuccess: prints(/raw reply/),
  }),
  net({
    id: 'net-packet',
    title: 'listen to the traffic of others',
    control: ['seccomp', 'user', 'net'],
    needs: 'root',
  }),
  net({
    id: 'net-sock-diag',
    title: "list the host's sockets by netlink",
    control: ['net', 'seccomp'],
    isSuccess: prints(/victim's port seen/),
  }),
  net({
    id: 'net-proc-unix',
    title: "list the host's unix sockets by /proc",
    control: ['net', 'landlock'],
  }),
  net({
    id: 'net-process-feed',
    title: "subscribe to the host's process events",
    control: ['net', 'seccomp', 'user'],
    isSuccess: prints(/victim's fork seen/),
  }),
];

/**
 * The same where the network is the host's, and the broker connects to one place of it that the policy names. That the
 * host's sockets can be listed there is announced.
 */
export const BROKERED_NETWORK_ATTACKS: readonly Attack[] = NETWORK_ATTACKS.filter(
  ({ id }) => id !== 'net-proc-unix',
).map((attack) => ({
  ...attack,
  control: attack.control.filter((layer) => layer !== 'net'),
  flags: () => ['--layers=-net', '--allow-net', '192.0.2.1:9'],
}));
