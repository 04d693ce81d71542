import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterEach, describe, expect, it } from 'vitest';
import { sha256Hex } from '../../src/core/digest.ts';
import { findPeople } from './as-user.ts';
import { Place } from './place.ts';
import { ASSAY, makeEnv } from './run-assay.ts';

const INSPECTOR = join(import.meta.dirname, '../../node_modules/.bin/mcp-inspector-cli');
const KILL_BAR_MS = 500;
/** A machine that is busy with other tests takes longer to look. */
const PATIENCE_MS = 3000;

interface Survey {
  readonly backends: readonly {
    readonly id: string;
    readonly isAvailable: boolean;
    readonly languages?: readonly string[];
  }[];
}

const SURVEY = JSON.parse(
  spawnSync(ASSAY, ['backends', '--no-latency', '--json'], { encoding: 'utf8' }).stdout,
) as Survey;
const BACKENDS = SURVEY.backends.filter(({ id }) => id === 'local' || id === 'wasm');
const [SELF] = findPeople().filter(({ whyNot }) => whyNot === undefined);

const HELLO: Readonly<Record<string, string>> = {
  python: 'print("hello")',
  javascript: 'console.log("hello")',
  typescript: 'const word: string = "hello";\nconsole.log(word);',
  bash: 'echo hello',
};

interface ToolResult {
  readonly isError?: boolean;
  readonly content: readonly { readonly text: string }[];
  readonly structuredContent: Record<string, unknown>;
}

let cleanup: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const step of cleanup.toReversed()) await step();
  cleanup = [];
});

function makePlace(): Place {
  if (!SELF) throw new Error('nobody can run this');
  const place = new Place(SELF, tmpdir());
  cleanup.push(() => place[Symbol.dispose]());
  return place;
}

interface Connected {
  readonly client: Client;
  readonly pid: number;
  readonly call: (
    name: string,
    input: Record<string, unknown>,
    signal?: AbortSignal,
  ) => Promise<ToolResult>;
}

type Transport = 'stdio' | 'http';

async function connect(
  backend: string,
  transport: Transport,
  more: readonly string[] = [],
): Promise<Connected> {
  const place = makePlace();
  const flags = ['mcp', '--backend', backend, '--evidence', place.makeDir('evidence'), ...more];
  const client = new Client({ name: 'test', version: '0' });
  cleanup.push(() => client.close());
  const pid =
    transport === 'stdio'
      ? await connectStdio(client, place, flags)
      : await connectHttp(client, place, flags);
  return {
    client,
    pid,
    call: async (name, input, signal) =>
      (await client.callTool(
        { name, arguments: input },
        signal ? { signal } : {},
      )) as unknown as ToolResult,
  };
}

async function connectStdio(client: Client, place: Place, flags: string[]): Promise<number> {
  const env = makeEnv(place) as Record<string, string>;
  const transport = new StdioClientTransport({ command: ASSAY, args: flags, env, cwd: place.work });
  await client.connect(transport);
  return transport.pid ?? 0;
}

async function startHttp(
  place: Place,
  flags: string[],
): Promise<{ child: ChildProcess; url: string; token: string }> {
  const tokenFile = join(place.base, 'token');
  const child = spawn(ASSAY, [...flags, '--http', '0', '--token-file', tokenFile], {
    cwd: place.work,
    env: makeEnv(place),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  cleanup.push(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  let text = '';
  for await (const piece of child.stderr.setEncoding('utf8')) {
    text += String(piece);
    if (text.includes('token:')) break;
  }
  const url = /listening on (\S+)/.exec(text)?.[1] ?? '';
  expect(fs.statSync(tokenFile).mode & 0o777).toBe(0o600);
  const token = fs.readFileSync(tokenFile, 'utf8').trim();
  expect(text).not.toContain(token);
  return { child, url, token };
}

async function connectHttp(client: Client, place: Place, flags: string[]): Promise<number> {
  const { child, url, token } = await startHttp(place, flags);
  const requestInit = { headers: { Authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
  return child.pid ?? 0;
}

function findProcesses(marker: string): string[] {
  return fs.readdirSync('/proc').filter((name) => {
    try {
      return (
        /^\d+$/.test(name) && fs.readFileSync(`/proc/${name}/cmdline`, 'latin1').includes(marker)
      );
    } catch {
      return false; // it has ended meanwhile
    }
  });
}

const CASES = BACKENDS.flatMap(({ id, isAvailable, languages = [] }) =>
  (['stdio', 'http'] as const).map((transport) => ({ id, isAvailable, languages, transport })),
);

describe.each(CASES)(
  'assay mcp over $transport with $id',
  ({ id, isAvailable, languages, transport }) => {
    if (!isAvailable) {
      it.skip(`is not run: ${id} is not available`);
      return;
    }

    it('runs every language, with evidence that holds the digest of the code', async () => {
      const { call } = await connect(id, transport);
      for (const language of languages) {
        const result = await call('execute_code', { language, code: HELLO[language] });
        expect(result.structuredContent).toMatchObject({
          outcome: 'exited',
          exit_code: 0,
          stdout: 'hello\n',
          denials: [],
        });
        expect(result.content[0]?.text).toMatch(/^hello\n\n\[exit 0 after /);
        const { evidence } = result.structuredContent as {
          evidence: { run_id: string; code_sha256: string; bundle: { path: string } };
        };
        expect(evidence.run_id).toMatch(/./);
        expect(evidence.code_sha256).toBe(sha256Hex(HELLO[language] ?? ''));
        const checked = spawnSync(ASSAY, ['evidence', 'verify', '--json', evidence.bundle.path], {
          encoding: 'utf8',
        });
        // Intact, and nobody has signed it.
        expect(checked.status, checked.stdout).toBe(10);
        const events = spawnSync('tar', ['-xzOf', evidence.bundle.path], { encoding: 'utf8' });
        expect(events.stdout).toContain(evidence.code_sha256);
      }
    });

    it('keeps files in a session and starts clean without one', async () => {
      const { call } = await connect(id, transport);
      const written = await call('sandbox_write_file', { path: 'a/in.txt', content: 'kept\n' });
      const { session } = written.structuredContent as { session: string };
      const code =
        'import os\nprint(os.path.exists("a/in.txt"))\nopen("out.txt","w").write("made")';
      const inside = await call('execute_code', { language: 'python', code, session });
      expect(inside.structuredContent).toMatchObject({
        stdout: 'True\n',
        files: [{ path: 'out.txt', change: 'added' }],
      });
      const outside = await call('execute_code', { language: 'python', code });
      expect(outside.structuredContent).toMatchObject({ stdout: 'False\n' });
      const listed = await call('sandbox_list_files', { session });
      expect(listed.structuredContent).toMatchObject({
        entries: [
          { name: 'a', kind: 'directory' },
          { name: 'out.txt', kind: 'file' },
        ],
      });
      const read = await call('sandbox_read_file', { session, path: '/workspace/out.txt' });
      expect(read.structuredContent).toMatchObject({ content: 'made', encoding: 'utf8' });
      expect((await call('sandbox_destroy', { session })).structuredContent).toEqual({
        destroyed: true,
      });
      const gone = await call('sandbox_read_file', { session, path: 'out.txt' });
      expect(gone.isError).toBe(true);
    });

    it.skipIf(id !== 'local')(
      'ends everything within half a second when a call is cancelled',
      async () => {
        const { call } = await connect(id, transport);
        const marker = `spin-${process.pid}-${Date.now()}`;
        const code = `(exec -a ${marker} sleep 1000) & trap '' TERM INT; setsid bash -c 'exec -a ${marker} sleep 1000' & exec -a ${marker} sleep 1000`;
        const abort = new AbortController();
        const called = call('execute_code', { language: 'bash', code }, abort.signal);
        const failed = expect(called).rejects.toThrow();
        await expect.poll(() => findProcesses(marker).length, { timeout: 10_000 }).toBe(3);
        const cancelledAt = performance.now();
        abort.abort();
        await failed;
        while (findProcesses(marker).length > 0) {
          expect(performance.now() - cancelledAt).toBeLessThan(PATIENCE_MS);
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
        const took = performance.now() - cancelledAt;
        console.log(`cancelled over ${transport}: ended after ${Math.round(took)} ms`);
        expect(took).toBeLessThan(isBusy() ? PATIENCE_MS : KILL_BAR_MS);
      },
    );

    it.skipIf(id === 'wasm')(
      'says why a connection is refused and what would allow it',
      async () => {
        const { call } = await connect(id, transport, ['--net', 'example.com:443']);
        const code =
          'import socket\ntry:\n  socket.create_connection(("example.org", 80), 2)\nexcept OSError:\n  print("refused")';
        const result = await call('execute_code', { language: 'python', code });
        expect(result.structuredContent).toMatchObject({
          stdout: 'refused\n',
          denials: [{ target: expect.stringContaining('example.org') }],
        });
        expect(result.content[0]?.text).toMatch(
          /refused: net\.\w+ example\.org.*--net example\.org\S* would allow it/,
        );
      },
    );

    it('leaves nothing when its client goes', async () => {
      const { client, pid, call } = await connect(id, transport);
      await call('sandbox_write_file', { path: 'a', content: 'x' });
      if (transport === 'http') return;
      await client.close();
      await expect.poll(() => fs.existsSync(`/proc/${pid}`), { timeout: 10_000 }).toBe(false);
    });

    it('serves the inspector', { timeout: 120_000 }, async () => {
      const place = makePlace();
      const flags = ['mcp', '--backend', id];
      const { target, extra } =
        transport === 'stdio'
          ? { target: [ASSAY, ...flags], extra: [] }
          : await startHttp(place, flags).then(({ url, token }) => ({
              target: [url],
              extra: ['--header', `Authorization: Bearer ${token}`],
            }));
      const inspect = (...words: string[]): Record<string, unknown> => {
        const args = ['--cli', ...target, ...words, ...extra];
        const { stdout, stderr } = spawnSync(INSPECTOR, args, {
          encoding: 'utf8',
          env: makeEnv(place),
          cwd: place.work,
        });
        expect(stderr).toBe('');
        return JSON.parse(stdout) as Record<string, unknown>;
      };
      const call = (name: string, ...input: string[]): Record<string, unknown> =>
        inspect(
          '--method',
          'tools/call',
          '--tool-name',
          name,
          ...input.flatMap((one) => ['--tool-arg', one]),
        );
      const { tools } = inspect('--method', 'tools/list') as { tools: { name: string }[] };
      expect(tools).toHaveLength(6);
      const ran = call('execute_code', 'language=python', 'code=print(6*7)');
      expect(ran['structuredContent']).toMatchObject({ stdout: '42\n' });
      if (id !== 'local') return; // the rest is the same code for all of them
      const written = call('sandbox_write_file', 'path=a.txt', 'content=x');
      expect(written['structuredContent']).toMatchObject({ size_bytes: 1 });
      // Each of its calls is a connection of its own, which has no session of another's.
      for (const name of ['sandbox_read_file', 'sandbox_list_files', 'sandbox_destroy'])
        expect(
          JSON.stringify(call(name, 'session=s-0', ...(name.includes('read') ? ['path=a'] : []))),
        ).toMatch(/There is no/);
      expect(call('sandbox_exec', 'argv=["echo","hi"]')['structuredContent']).toMatchObject({
        stdout: 'hi\n',
      });
    });
  },
);

/** More to do than there are processors. */
function isBusy(): boolean {
  const [load = 0] = fs.readFileSync('/proc/loadavg', 'utf8').split(' ').map(Number);
  return load > 2;
}

describe('assay mcp', () => {
  const available = BACKENDS.find(({ isAvailable }) => isAvailable)?.id;

  it.skipIf(available === undefined)('prints nothing but the protocol', async () => {
    const place = makePlace();
    const child = spawn(ASSAY, ['mcp', '--backend', available ?? ''], {
      cwd: place.work,
      env: makeEnv(place),
    });
    const lines: string[] = [];
    let rest = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      rest += text;
      const parts = rest.split('\n');
      rest = parts.pop() ?? '';
      lines.push(...parts);
    });
    const send = (message: object): void =>
      void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    const ended = new Promise((resolve) => child.once('exit', resolve));
    send({
      id: 1,
      method: 'initialize',
      params: {
        protocolVersion: '2024-11-05',
        capabilities: {},
        clientInfo: { name: 'raw', version: '0' },
      },
    });
    await expect.poll(() => lines.length, { timeout: 20_000 }).toBe(1);
    send({ method: 'notifications/initialized' });
    child.stdin.write('this is not JSON\n');
    const input = { language: 'python', code: 'print("on stdout")' };
    send({ id: 2, method: 'tools/call', params: { name: 'execute_code', arguments: input } });
    await expect
      .poll(() => lines.some((line) => line.includes('"id":2')), { timeout: 30_000 })
      .toBe(true);
    child.stdin.end();
    expect(await ended).toBe(0);
    expect(rest).toBe('');
    for (const line of lines) expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' });
  });

  it.each([
    [['--isolation', 'separate'], 'and separate is required'],
    [['--timeout', '9999h'], 'Cannot use 9999h for --timeout'],
  ])('does not start with %j', (flags, message) => {
    const result = spawnSync(ASSAY, ['mcp', ...flags], { encoding: 'utf8', input: '' });
    expect(result).toMatchObject({ status: 2, stdout: '' });
    expect(result.stderr).toContain(message);
  });
});
