// Connects again and again to a port of the host, by `http_proxy` or without, and says how long each first byte took, in
// nanoseconds. Runs inside a sandbox and outside: `door-client.mjs proxy|plain PORT COUNT`.
import { once } from 'node:events';
import { connect } from 'node:net';

const [way, port, count] = process.argv.slice(2);
const proxy = way === 'proxy' ? new URL(process.env.http_proxy) : undefined;
const target = `localhost:${port}`;
const credentials = proxy && `${decodeURIComponent(proxy.username)}:${proxy.password}`;
const authorization =
  proxy?.username === '' || !proxy
    ? ''
    : `Proxy-Authorization: Basic ${Buffer.from(credentials).toString('base64')}\r\n`;

async function open() {
  const to = proxy
    ? { host: proxy.hostname, port: Number(proxy.port) }
    : { host: '127.0.0.1', port };
  const socket = connect({ ...to, noDelay: true });
  await once(socket, 'connect');
  if (!proxy) return socket;
  socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n${authorization}\r\n`);
  const [answer] = await once(socket, 'data');
  if (!/^HTTP\/1\.[01] 200 /.test(answer.toString('latin1'))) throw new Error(answer.toString());
  return socket;
}

for (let round = 0; round < Number(count); round++) {
  const from = process.hrtime.bigint();
  const socket = await open();
  socket.write('\x01');
  await once(socket, 'data');
  process.stdout.write(`${process.hrtime.bigint() - from}\n`);
  socket.destroy();
}
