import { connect } from 'node:net';
import { type Attack, type AttackRun, saysGot } from './attack.ts';
import type { Stage } from './stage.ts';

/** Sent is not arrived; the listener gets a moment. */
function arrives(via: string): Attack['isThrough'] {
  return async (_run: AttackRun, { received, facts }: Stage) => {
    for (let round = 0; round < 10 && !received.has(`${via} ${facts.token}`); round++)
      await new Promise((done) => setTimeout(done, 10));
    return received.has(`${via} ${facts.token}`);
  };
}

function dials(where: string): string {
  return `require("net").connect(${where}, function () { this.end(S.token); }).on("error", (e) => say(e.code));`;
}

const NO_LISTENER = 'nothing can listen there on this host';

const INTERNET: Attack[] = [
  {
    id: 'tcp-loopback',
    title: 'connect to a server on the host (TCP)',
    program: dials('S.tcpPort, "127.0.0.1"'),
    isThrough: arrives('tcp'),
  },
  {
    id: 'tcp6-loopback',
    title: 'connect to a server on the host (TCP, IPv6)',
    program: dials('S.tcp6Port, "::1"'),
    isThrough: arrives('tcp6'),
  },
  {
    id: 'udp-loopback',
    title: 'send to a server on the host (UDP)',
    program:
      'const u = require("dgram").createSocket("udp4"); u.on("error", (e) => { say(e.code); u.close(); }); u.send(S.token, S.udpPort, "127.0.0.1", () => u.close());',
    isThrough: arrives('udp'),
  },
  {
    id: 'tcp-serve',
    title: 'open a port on the host',
    program: `const server = require("net").createServer((socket) => { socket.end(S.token); server.close(); });
server.on("error", (e) => say(e.code)).listen(0, "127.0.0.1", () => say("port " + server.address().port));
setTimeout(() => server.close(), 700);`,
    onLine: (line: string, { marks }: Stage) => {
      const port = Number(/^port (\d+)$/.exec(line)?.[1] ?? 0);
      if (port === 0) return;
      const socket = connect(port, '127.0.0.1');
      socket.on('data', (data) => marks.add(data.toString('latin1'))).on('error', () => {}); // refused: nobody is there
      setTimeout(() => socket.destroy(), 600).unref();
    },
    isThrough: (_run: AttackRun, { marks, facts }: Stage) => marks.has(facts.token),
  },
].map((attack): Attack => ({
  ...attack,
  class: 'network',
  language: 'node',
  target: () => ({ kind: 'network' }),
  vacuous: NO_LISTENER,
}));

const UNIX: Attack[] = [
  {
    id: 'unix-path',
    title: 'connect to a socket of the host by its path',
    class: 'unix socket',
    language: 'node',
    program: dials('S.socketPath'),
    isThrough: arrives('unix'),
    target: ({ facts }) => ({ kind: 'socket', path: facts.socketPath }),
    vacuous: NO_LISTENER,
  },
  {
    id: 'unix-abstract',
    title: 'connect to an abstract socket of the host',
    class: 'unix socket',
    language: 'node',
    program: dials('"\\0" + S.abstractName'),
    isThrough: arrives('abstract'),
    // The host's network as a whole holds its abstract names, where nothing else keeps them apart.
    target: () => ({ kind: 'network' }),
    vacuous: NO_LISTENER,
  },
];

const PACKETS: Attack = {
  id: 'packet-socket',
  title: 'open a packet socket',
  class: 'network',
  language: 'python',
  program: 'import socket\nsocket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)\nsay("got")',
  isThrough: saysGot,
  vacuous: 'only root can open packet sockets',
};

export const NETWORK_ATTACKS: readonly Attack[] = [...INTERNET, ...UNIX, PACKETS];
