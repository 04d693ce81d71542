import { createServer } from 'node:http';
import type { DoorKit } from './door-kit.ts';

/** Tells each request as it came: its line, its fields and its body. */
export async function startUpstream(kit: DoorKit): Promise<number> {
  const server = createServer({ keepAliveTimeout: 5000 }, (request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const { method, url, rawHeaders } = request;
      response.end(JSON.stringify({ method, url, rawHeaders, body }));
    });
  });
  kit.hosts.set('ok.test', ['127.0.0.1']);
  kit.hosts.set('other.test', ['127.0.0.1']);
  return kit.listen(server);
}

/** All that comes back on a connection of its own. */
export async function ask(kit: DoorKit, text: string): Promise<string> {
  const client = await kit.dial();
  client.socket.write(text, 'latin1');
  return client.rest();
}
