import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  createMcpHandler,
  isLegacyRequest,
  type McpHttpHandler,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { Toolset } from '../../tool/toolset.ts';
import { Gatekeeper, MCP_PATH } from './gatekeeper.ts';
import { sendWebResponse, toWebRequest } from './http-bridge.ts';
import type { SandboxService } from './sandbox-service.ts';
import { makeToolServer } from './tool-server.ts';

const HOST = '127.0.0.1';
const MAX_BODY_BYTES = 64 * 1024 * 1024;
const MAX_CONNECTIONS = 64;
const IDLE_MS = 30 * 60_000;

export interface HttpOptions {
  readonly service: SandboxService;
  /** 0: one that is free. */
  readonly port: number;
  readonly onError: (error: Error) => void;
}

interface Connection {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly toolset: Toolset;
  idle: NodeJS.Timeout;
}

/**
 * MCP over HTTP on the loopback. Clients of revisions before 2026-07-28 have a connection, with sandboxes of its own.
 * Later ones have none: each request stands for itself, and only who was told the name of a sandbox can use it.
 */
export class McpHttpServer {
  readonly token: string;
  readonly #options: HttpOptions;
  readonly #gatekeeper = new Gatekeeper();
  readonly #connections = new Map<string, Connection>();
  readonly #modern: McpHttpHandler;
  readonly #server: Server;

  constructor(options: HttpOptions) {
    this.#options = options;
    this.token = this.#gatekeeper.token;
    const { service, onError } = options;
    const toolset = service.openToolset();
    this.#modern = createMcpHandler(() => makeToolServer(toolset, service), {
      legacy: 'reject',
      onerror: onError,
      maxRequestBodySize: MAX_BODY_BYTES,
    });
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  /** Where it listens. */
  async listen(): Promise<string> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(this.#options.port, HOST, resolve);
    });
    return `http://${HOST}:${(this.#server.address() as AddressInfo).port}${MCP_PATH}`;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#connections.keys()].map((id) => this.#drop(id)));
    await this.#modern.close();
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const asked = toWebRequest(request, response, `http://${HOST}`);
      const answer =
        asked instanceof Response
          ? asked
          : (this.#gatekeeper.refuse(asked) ?? (await this.#serve(asked)));
      await sendWebResponse(response, answer);
    } catch (error) {
      if (response.destroyed) return;
      this.#options.onError(error instanceof Error ? error : new Error(String(error)));
      if (!response.headersSent) response.writeHead(500);
      response.end();
    }
  }

  async #serve(request: Request): Promise<Response> {
    const isLegacy = await isLegacyRequest(request, undefined, {
      maxRequestBodySize: MAX_BODY_BYTES,
    });
    if (!isLegacy) return this.#modern.fetch(request);
    const id = request.headers.get('mcp-session-id');
    if (id === null) return await this.#open(request);
    const connection = this.#connections.get(id);
    if (!connection) return Response.json({ error: 'There is no such session' }, { status: 404 });
    connection.idle.refresh();
    return connection.transport.handleRequest(request);
  }

  /** The first request of a client; if it is none that opens a connection, the transport says so. */
  async #open(request: Request): Promise<Response> {
    if (this.#connections.size >= MAX_CONNECTIONS)
      return Response.json({ error: 'Too many connections' }, { status: 503 });
    const { service } = this.#options;
    const toolset = service.openToolset();
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      maxRequestBodySize: MAX_BODY_BYTES,
      onsessioninitialized: (id) => {
        const idle = setTimeout(() => void this.#drop(id), IDLE_MS);
        idle.unref();
        this.#connections.set(id, { transport, toolset, idle });
      },
      onsessionclosed: (id) => this.#drop(id),
    });
    await makeToolServer(toolset, service).connect(transport);
    const answer = await transport.handleRequest(request);
    if (transport.sessionId === undefined) await service.closeToolset(toolset);
    return answer;
  }

  async #drop(id: string): Promise<void> {
    const connection = this.#connections.get(id);
    if (!connection) return;
    this.#connections.delete(id);
    clearTimeout(connection.idle);
    await connection.transport.close();
    await this.#options.service.closeToolset(connection.toolset);
  }
}
