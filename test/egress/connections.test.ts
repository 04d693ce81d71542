import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { Connections } from '../../src/egress/connections.ts';
import type { ConnectionFact } from '../../src/egress/egress.ts';

it('tells of a connection whose socket never says that it is closed, and waits no longer', async () => {
  const facts: ConnectionFact[] = [];
  const verdict = { isAllowed: true, rule: 'a rule' };
  const upstream = Object.assign(new PassThrough({ emitClose: false }), {
    bytesWritten: 7,
    bytesRead: 5,
  });
  const connections = new Connections({
    rules: { decide: () => verdict, onChange: () => {} },
    log: { connection: (fact: ConnectionFact) => void facts.push(fact) },
    dialer: { dial: async () => ({ socket: upstream, address: '192.0.2.1', verdict }) },
    now: () => 0,
  } as never);
  await connections.open({
    door: 'http',
    destination: { protocol: 'tcp', name: 'example.org', port: 80 },
    client: new PassThrough({ emitClose: false }),
  } as never);
  await connections.close();
  expect(facts).toMatchObject([{ address: '192.0.2.1', outcome: 'ok', sent: 7, received: 5 }]);
});
