import { once } from 'node:events';
import { afterEach, expect, it } from 'vitest';
import { reset } from '../../src/egress/relay.ts';
import { DoorKit, pause } from './door-kit.ts';

let kit: DoorKit;
afterEach(async () => kit.close());

it('reset() closes a socket whose end waits for a peer that does not read', async () => {
  kit = await new DoorKit().open();
  const port = await kit.serve((socket) => void socket.pause());
  const { socket } = await kit.dial(port);
  socket.write(Buffer.alloc(32 << 20));
  socket.end();
  await pause(50);
  expect(socket.writableFinished).toBe(false);
  const closed = once(socket, 'close').then(() => 'closed');
  reset(socket);
  expect(await Promise.race([closed, pause(2000)])).toBe('closed');
});
