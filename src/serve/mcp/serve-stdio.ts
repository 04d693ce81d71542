import type { Readable, Writable } from 'node:stream';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import type { SandboxService } from './sandbox-service.ts';
import { makeToolServer } from './tool-server.ts';

const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

export interface StdioOptions {
  readonly service: SandboxService;
  readonly input: Readable;
  readonly output: Writable;
  readonly signal: AbortSignal;
  readonly onError: (error: Error) => void;
}

/** Serves one client until it goes or `signal` says so. */
export async function serveMcpStdio(options: StdioOptions): Promise<void> {
  const { service, input, output, signal, onError } = options;
  const toolset = service.openToolset();
  const ended = new Promise<void>((resolve) => {
    const end = (): void => resolve();
    for (const name of ['end', 'close', 'error']) input.once(name, end);
    output.once('error', end);
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
  });
  const transport = new StdioServerTransport(input, output, { maxBufferSize: MAX_MESSAGE_BYTES });
  const handle = serveStdio(() => makeToolServer(toolset, service), {
    transport,
    onerror: onError,
  });
  await ended;
  await handle.close();
  await service.closeToolset(toolset);
}
