import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import * as fs from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { homedir, networkInterfaces } from 'node:os';
import { join } from 'node:path';

/** What lies on the host for programs to find: files, processes and servers, each of which says the canary. */
export interface World {
  /** Nobody inside may ever see or print it. */
  readonly canary: string;
  /** Not secret: in the command line of every process that a program leaves behind. */
  readonly token: string;
  /** A directory of the host; workspaces lie in it, beside planted files. */
  readonly base: string;
  /** Planted files, by absolute path. */
  readonly planted: readonly string[];
  /** A process of the host whose environment holds the canary. */
  readonly hostPid: number;
  readonly http: Listener;
  /** A second server, which no rule names. */
  readonly otherHttp: Listener;
  readonly udp: Listener;
  /** A unix socket that answers with the canary, by path and by abstract name. */
  readonly unixPath: string;
  readonly abstractName: string;
  /** An address of this host besides loopback, on which `http` does not listen. */
  readonly hostAddress: string | undefined;
  /** A new directory of the host with these files in it. */
  readonly makeWorkspace: (files?: Readonly<Record<string, string>>) => string;
  /** Planted files that are not as they were. */
  readonly findDamage: () => string[];
  close(): Promise<void>;
}

export interface Listener {
  readonly port: number;
  /** How often somebody came. */
  readonly visits: () => number;
}

function plant(directory: string, token: string, canary: string): string {
  const path = join(directory, `.assay-conformance-${token}.txt`);
  fs.writeFileSync(path, `${canary}\n`, { mode: 0o666 });
  // Whatever the umask is: only the boundary may keep a program from it.
  fs.chmodSync(path, 0o666);
  return path;
}

async function listen(server: Server, where: { port: number; host: string } | { path: string }) {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(where, resolve);
  });
  return server;
}

async function serveHttp(canary: string): Promise<Listener & { readonly server: Server }> {
  let visits = 0;
  const server = createHttpServer((_request, response) => response.end(`${canary}\n`));
  server.on('connection', () => void (visits += 1));
  await listen(server, { port: 0, host: '127.0.0.1' });
  return { server, port: (server.address() as AddressInfo).port, visits: () => visits };
}

async function serveUdp(): Promise<Listener & { readonly socket: UdpSocket }> {
  let visits = 0;
  const socket = createSocket('udp4').on('message', () => void (visits += 1));
  await new Promise<void>((resolve) => void socket.bind(0, '127.0.0.1', resolve));
  return { socket, port: socket.address().port, visits: () => visits };
}

function findHostAddress(): string | undefined {
  return Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;
}

function chooseBase(): string {
  // Not below /tmp, which most sandboxes have their own of: then nothing would be shown by not finding it.
  const parent = process.getuid?.() === 0 ? '/home' : homedir();
  const base = fs.mkdtempSync(join(parent, 'conformance-'));
  fs.chmodSync(base, 0o755);
  return base;
}

export async function openWorld(): Promise<World> {
  const canary = `CANARY-${randomBytes(12).toString('hex')}`;
  const token = randomBytes(6).toString('hex');
  const base = chooseBase();
  const planted = [base, homedir(), '/var/tmp', '/tmp'].map((dir) => plant(dir, token, canary));
  const sleeper: ChildProcess = spawn('/bin/sleep', ['100000'], {
    env: { SECRET: canary },
    cwd: base,
    stdio: 'ignore',
  });
  const [http, otherHttp, udp] = [
    await serveHttp(canary),
    await serveHttp(canary),
    await serveUdp(),
  ];
  const unixPath = join(base, 'docker.sock');
  const abstractName = `assay-conformance-${token}`;
  const answer = (): Server =>
    createServer((socket) => socket.on('error', () => undefined).end(canary));
  const unix = [
    await listen(answer(), { path: unixPath }),
    await listen(answer(), { path: `\0${abstractName}` }),
  ];
  fs.chmodSync(unixPath, 0o777);
  const isDamaged = (path: string): boolean =>
    !fs.existsSync(path) || fs.readFileSync(path, 'utf8') !== `${canary}\n`;
  return {
    canary,
    token,
    base,
    planted,
    hostPid: sleeper.pid ?? 0,
    http,
    otherHttp,
    udp,
    unixPath,
    abstractName,
    hostAddress: findHostAddress(),
    makeWorkspace(files = {}) {
      const path = fs.mkdtempSync(join(base, 'work-'));
      fs.chmodSync(path, 0o777);
      for (const [name, text] of Object.entries(files)) fs.writeFileSync(join(path, name), text);
      return path;
    },
    findDamage: () => planted.filter(isDamaged),
    async close() {
      sleeper.kill('SIGKILL');
      for (const path of planted) fs.rmSync(path, { force: true });
      udp.socket.close();
      for (const server of [http.server, otherHttp.server, ...unix]) {
        if ('closeAllConnections' in server)
          (server as { closeAllConnections(): void }).closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }
      fs.rmSync(base, { recursive: true, force: true });
    },
  };
}
