import { request } from 'node:http';
import { connect as connectSocket } from 'node:net';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterEach, describe, expect, it } from 'vitest';
import { SandboxService } from '../../src/serve/mcp/sandbox-service.ts';
import { McpHttpServer } from '../../src/serve/mcp/serve-http.ts';
import { FakeBackend } from '../tool/fake-backend.ts';

interface Served {
  readonly backend: FakeBackend;
  readonly server: McpHttpServer;
  readonly url: string;
  close(): Promise<void>;
}

let opened: Served[] = [];

afterEach(async () => {
  await Promise.all(opened.map((one) => one.close()));
  opened = [];
});

async function serve(onError: (error: Error) => void = () => undefined): Promise<Served> {
  const backend = new FakeBackend();
  const service = new SandboxService({ backend, spec: {}, version: '0' });
  const server = new McpHttpServer({ service, port: 0, onError });
  const url = await server.listen();
  const served = {
    backend,
    server,
    url,
    close: async () => {
      await server.close();
      await service.close();
    },
  };
  opened.push(served);
  return served;
}

type Mode = 'legacy' | 'auto' | { pin: '2026-07-28' };
const MODES: readonly [string, Mode][] = [
  ['a client of before 2026', 'legacy'],
  ['a client of 2026-07-28', { pin: '2026-07-28' }],
];

async function connect({ url, server }: Served, mode: Mode): Promise<Client> {
  const client = new Client({ name: 'test', version: '0' }, { versionNegotiation: { mode } });
  const headers = { Authorization: `Bearer ${server.token}` };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }),
  );
  return client;
}

function structured(result: unknown): Record<string, unknown> {
  return (result as { structuredContent: Record<string, unknown> }).structuredContent;
}

describe.each(MODES)('McpHttpServer with %s', (_, mode) => {
  it('offers the tools, each with schemas for input and output', async () => {
    const client = await connect(await serve(), mode);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      'execute_code',
      'sandbox_exec',
      'sandbox_read_file',
      'sandbox_write_file',
      'sandbox_list_files',
      'sandbox_destroy',
    ]);
    for (const tool of tools) {
      expect(tool.inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
      expect(tool.outputSchema).toMatchObject({ type: 'object' });
    }
    await client.close();
  });

  it('keeps files between calls when asked', async () => {
    const served = await serve();
    const client = await connect(served, mode);
    const written = await client.callTool({
      name: 'sandbox_write_file',
      arguments: { path: 'a/b.txt', content: 'hello' },
    });
    const { session } = structured(written);
    const read = await client.callTool({
      name: 'sandbox_read_file',
      arguments: { session, path: 'a/b.txt' },
    });
    expect(structured(read)).toMatchObject({
      content: 'hello',
      encoding: 'utf8',
      truncated_bytes: 0,
    });
    const ran = await client.callTool({
      name: 'execute_code',
      arguments: { language: 'python', code: 'x', session },
    });
    expect(structured(ran)).toMatchObject({ outcome: 'exited', session });
    expect(served.backend.made).toHaveLength(1);
    const gone = await client.callTool({ name: 'sandbox_destroy', arguments: { session } });
    expect(structured(gone)).toEqual({ destroyed: true });
    expect(served.backend.made[0]).toMatchObject({ isKilled: true, isDisposed: true });
    await client.close();
  });

  it('tells the model why a call is refused, as a result', async () => {
    const served = await serve();
    const client = await connect(served, mode);
    for (const [input, text] of [
      [{ language: 'cobol', code: '' }, 'language is one of'],
      [{ language: 'bash', code: '', session: 's-1' }, 'There is no session'],
      [{ language: 'bash', code: '', network: 'all' }, 'has no "network"'],
    ] as const) {
      const result = await client.callTool({ name: 'execute_code', arguments: input });
      expect(result.isError).toBe(true);
      expect((result.content[0] as { text: string }).text).toContain(text);
    }
    await client.close();
  });

  it('does not call a program that fails an error of the tool', async () => {
    const served = await serve();
    served.backend.program = () =>
      Promise.resolve({ outcome: { kind: 'exited', exitCode: 3 }, exitCode: 3 });
    const client = await connect(served, mode);
    const result = await client.callTool({
      name: 'sandbox_exec',
      arguments: { argv: ['false'] },
    });
    expect(result.isError ?? false).toBe(false);
    expect(structured(result)).toMatchObject({ outcome: 'exited', exit_code: 3 });
    await client.close();
  });

  it('says how a long call is getting on', async () => {
    const served = await serve();
    served.backend.program = async ({ options: { onEvent } }) => {
      onEvent?.({ type: 'stdout', data: Buffer.from('one\ntwo\n') });
      await new Promise((resolve) => setTimeout(resolve, 1300));
      return {};
    };
    const client = await connect(served, mode);
    const messages: string[] = [];
    await client.callTool(
      { name: 'execute_code', arguments: { language: 'bash', code: 'x' } },
      { onprogress: ({ message }) => void messages.push(message ?? '') },
    );
    expect(messages.length).toBeGreaterThanOrEqual(1);
    expect(messages[0]).toContain('8 bytes of output: two');
    await client.close();
  });

  it('ends a call that the client takes back', async () => {
    const served = await serve();
    let endedAfter: number | undefined;
    const abort = new AbortController();
    let cancelledAt = 0;
    served.backend.program = ({ options: { signal } }) =>
      new Promise((resolve) => {
        setTimeout(() => {
          cancelledAt = performance.now();
          abort.abort();
        }, 50);
        signal?.addEventListener('abort', () => {
          endedAfter = performance.now() - cancelledAt;
          resolve({ outcome: { kind: 'aborted' }, exitCode: 137 });
        });
      });
    const client = await connect(served, mode);
    await expect(
      client.callTool(
        { name: 'execute_code', arguments: { language: 'bash', code: 'x' } },
        { signal: abort.signal },
      ),
    ).rejects.toThrow();
    await expect.poll(() => endedAfter, { timeout: 3000 }).toBeDefined();
    expect(endedAfter).toBeLessThan(2000);
    await expect.poll(() => served.backend.made[0]?.isDisposed).toBe(true);
    await client.close();
  });
});

describe('McpHttpServer', () => {
  it('keeps the sandboxes of one connection out of reach of another, by name or by guessing', async () => {
    const served = await serve();
    const [first, second] = [await connect(served, 'legacy'), await connect(served, 'legacy')];
    const { session } = structured(
      await first.callTool({ name: 'sandbox_write_file', arguments: { path: 'a', content: 'x' } }),
    );
    const stolen = await second.callTool({
      name: 'sandbox_read_file',
      arguments: { session, path: 'a' },
    });
    expect(stolen.isError).toBe(true);
    const destroyed = await second.callTool({ name: 'sandbox_destroy', arguments: { session } });
    expect(structured(destroyed)).toEqual({ destroyed: false });
    await first.close();
    await second.close();
  });

  it('ends the sandboxes of a connection with it', async () => {
    const served = await serve();
    const client = await connect(served, 'legacy');
    await client.callTool({ name: 'sandbox_write_file', arguments: { path: 'a', content: 'x' } });
    await (client.transport as StreamableHTTPClientTransport).terminateSession();
    await expect.poll(() => served.backend.made[0]?.isDisposed).toBe(true);
    await client.close();
  });

  const INITIALIZE = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'x', version: '0' },
    },
  });

  /** With node:http, since fetch() sets some of these headers itself. */
  function post(url: string, headers: Record<string, string>): Promise<number> {
    return new Promise((resolve, reject) => {
      const sent = request(url, {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          Accept: 'application/json, text/event-stream',
          ...headers,
        },
      });
      sent.on('response', (answer) => {
        answer.resume();
        resolve(answer.statusCode ?? 0);
      });
      sent.on('error', reject);
      sent.end(INITIALIZE);
    });
  }

  it.each([
    ['the token', {}, 200],
    ['the token and an origin of this machine', { Origin: 'http://localhost:5173' }, 200],
    ['no token', { Authorization: '' }, 401],
    ['another token', { Authorization: 'Bearer abc' }, 401],
    ['the name of another host', { Host: 'rebound.example.com' }, 403],
    ['the origin of a page', { Origin: 'https://example.com' }, 403],
    ['an origin that is no origin', { Origin: 'null' }, 403],
  ])('answers %s', async (_, headers, status) => {
    const { url, server, backend } = await serve();
    const all: Record<string, string> = { Authorization: `Bearer ${server.token}`, ...headers };
    expect(await post(url, all)).toBe(status);
    expect(backend.made).toEqual([]);
  });

  it('has another token every time, and no other path', async () => {
    const [first, second] = [await serve(), await serve()];
    expect(first.server.token).not.toBe(second.server.token);
    expect(first.server.token.length).toBeGreaterThanOrEqual(43);
    const Authorization = `Bearer ${first.server.token}`;
    expect(await post(first.url.replace('/mcp', '/'), { Authorization })).toBe(404);
  });

  /** What a client could not be made to send. */
  function sendRaw(url: string, line: string): Promise<string> {
    const { hostname, port } = new URL(url);
    return new Promise((resolve, reject) => {
      const socket = connectSocket(Number(port), hostname);
      let answer = '';
      socket.setEncoding('latin1').on('data', (data: string) => (answer += data));
      socket.on('end', () => resolve(answer.split('\r\n', 1).join()));
      socket.on('error', reject);
      socket.write(`${line} HTTP/1.1\r\nHost: ${hostname}\r\nConnection: close\r\n\r\n`);
    });
  }

  it.each([
    ['GET //', 400],
    ['GET http://[/mcp', 400],
    ['GET http://a:b@127.0.0.1/mcp', 400],
    ['TRACE /mcp', 405],
  ])('answers %s, and has nothing to say about it', async (line, status) => {
    const errors: Error[] = [];
    const { url } = await serve((error) => void errors.push(error));
    expect(await sendRaw(url, line)).toContain(` ${status} `);
    expect(errors).toEqual([]);
  });

  it('listens on the loopback only', async () => {
    const { url } = await serve();
    expect(new URL(url).hostname).toBe('127.0.0.1');
  });
});
