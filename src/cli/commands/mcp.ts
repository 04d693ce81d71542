import { join, resolve } from 'node:path';
import { loadBackend } from '../../backends/registry.ts';
import { requireGuarantees } from '../../backends/requirements.ts';
import { AtomicFile } from '../../artifacts/atomic-file.ts';
import { AssayError } from '../../core/errors.ts';
import { toPrintable } from '../../core/printable.ts';
import { SandboxService } from '../../serve/mcp/sandbox-service.ts';
import { McpHttpServer } from '../../serve/mcp/serve-http.ts';
import { serveMcpStdio } from '../../serve/mcp/serve-stdio.ts';
import { readBackendId, readSpec } from '../exec/sandbox-flags.ts';
import { StopSignals } from '../exec/stop-signals.ts';
import type { FlagValues } from '../flag-values.ts';
import { makeDirectory } from '../make-directory.ts';
import type { ParsedCommand } from '../parse.ts';
import { VERSION } from '../version.ts';

const MAX_WARM = 64;
const MAX_PORT = 65_535;

/** `assay mcp`: until the client goes, or somebody ends it. */
export async function run({ flags }: Pick<ParsedCommand, 'flags'>): Promise<number> {
  const spec = readSpec(flags);
  const port = readNumber(flags, 'http', MAX_PORT);
  const warm = readNumber(flags, 'warm', MAX_WARM) ?? 1;
  if (flags.has('token-file') && port === undefined)
    throw new AssayError('E_USAGE', '--token-file goes with --http');
  const backend = await loadBackend(readBackendId(flags));
  // Told now, and not to the first client that asks.
  requireGuarantees(spec, await backend.probe());
  const bundle = openEvidence(flags.text('evidence'));
  const service = new SandboxService({ backend, spec, version: VERSION, warm, bundle });
  const stop = new StopSignals();
  try {
    if (port === undefined) await serveStdio(service, stop);
    else await serveHttp(service, stop, { port, tokenFile: flags.text('token-file') });
    // A client that closes its end is the ordinary way to end; so is ending the server.
    return 0;
  } finally {
    await service.close();
    stop.close();
  }
}

async function serveStdio(service: SandboxService, { signal }: StopSignals): Promise<void> {
  const { stdin: input, stdout: output } = process;
  await serveMcpStdio({ service, input, output, signal, onError: report });
}

async function serveHttp(
  service: SandboxService,
  { signal }: StopSignals,
  { port, tokenFile }: { port: number; tokenFile: string | undefined },
): Promise<void> {
  const file = tokenFile === undefined ? undefined : new AtomicFile(tokenFile, 'the token');
  const server = new McpHttpServer({ service, port, onError: report });
  try {
    const url = await listen(server, port);
    file?.write([`${server.token}\n`]);
    const where = file ? `is in ${file.path}` : server.token;
    process.stderr.write(`assay: listening on ${url}\nassay: token: ${where}\n`);
    if (!signal.aborted) await new Promise((done) => signal.addEventListener('abort', done));
  } finally {
    await server.close();
  }
}

async function listen(server: McpHttpServer, port: number): Promise<string> {
  try {
    return await server.listen();
  } catch (cause) {
    throw new AssayError('E_USAGE', `Cannot listen: ${(cause as Error).message}`, {
      hint: port === 0 ? undefined : 'Take another port, or 0 for one that is free',
      cause,
    });
  }
}

function readNumber(flags: FlagValues, name: string, max: number): number | undefined {
  const text = flags.text(name);
  if (text === undefined) return undefined;
  const value = /^\d{1,6}$/.test(text) ? Number(text) : Infinity;
  if (value <= max) return value;
  throw new AssayError('E_USAGE', `--${name} needs a number from 0 to ${max}, not "${text}"`);
}

/** A new file for each run, none of which is ever written twice. */
function openEvidence(directory: string | undefined): (() => string) | undefined {
  if (directory === undefined) return undefined;
  const root = resolve(directory);
  try {
    makeDirectory(root);
  } catch (cause) {
    throw new AssayError('E_USAGE', `Cannot make ${JSON.stringify(directory)}`, { cause });
  }
  const started = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '');
  let count = 0;
  return () => join(root, `${started}-${process.pid}-${++count}.bundle.tar.gz`);
}

function report(error: Error): void {
  process.stderr.write(`assay: ${toPrintable(error.message)}\n`);
}
