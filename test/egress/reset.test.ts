import { once } from 'node:events';
import { afterEach, expect, it } from 'vitest';
import { reset } from '../../src/egress/relay.ts';
import { DoorKit, pause } from './door-kit.ts';

let kit: DoorKit;
afterEach(async () => kit.close());

it('reset() closes a socket whose end is on its way', async () => {
  kit = await new DoorKit().open();
  const { socket } = await kit.dial(await kit.echo());
  const closed = once(socket, 'close').then(() => 'closed');
  socket.end('last words');
  reset(socket);
  expect(await Promise.race([closed, pause(2000)])).toBe('closed');
});
