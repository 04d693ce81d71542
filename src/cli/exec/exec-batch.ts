import { createReadStream } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { BackendReport, SandboxBackend } from '../../backends/backend.ts';
import { renameLimits } from '../../backends/limit-names.ts';
import { loadBackend } from '../../backends/registry.ts';
import { requireGuarantees, tightenLimits } from '../../backends/requirements.ts';
import type { Sandbox } from '../../backends/sandbox.ts';
import { SandboxError } from '../../backends/sandbox-error.ts';
import type { NetworkSpec, SandboxSpec } from '../../backends/spec.ts';
import { AssayError } from '../../core/errors.ts';
import { sha256Hex } from '../../core/digest.ts';
import { COUNT_FORM, parseCount } from '../../policy/units.ts';
import { runBatch, type TaskResult } from '../../tool/batch.ts';
import { type BatchTask, TASK_LIMITS, toTaskLimits } from '../../tool/batch-task.ts';
import type { CodeInput } from '../../tool/code-input.ts';
import { makeOutput, makeUnstarted } from '../../tool/code-output.ts';
import { FileState } from '../../tool/file-state.ts';
import { SandboxPool } from '../../tool/pool.ts';
import { prepareCode } from '../../tool/prepare-code.ts';
import { runCode } from '../../tool/run-code.ts';
import { WorkspaceCode } from '../../tool/workspace-code.ts';
import { makeDirectory } from '../make-directory.ts';
import type { ParsedCommand } from '../parse.ts';
import { BatchProgressLine } from './batch-progress.ts';
import { readCodeFile } from './code-source.ts';
import { readInputFile } from './host-files.ts';
import { readBackendId, readSpec } from './sandbox-flags.ts';
import { StopSignals } from './stop-signals.ts';

const DEFAULT_PARALLEL = 4;

/** `assay exec --batch`: a sandbox for each task of a file, a line of JSON for each result. */
export async function execBatch({ flags }: ParsedCommand): Promise<number> {
  const file = flags.text('batch') ?? '-';
  const parallel = readParallel(flags.text('parallel'));
  const spec = readSpec(flags);
  const backend = await loadBackend(readBackendId(flags));
  const report = await backend.probe();
  requireGuarantees(spec, report);
  const stop = new StopSignals();
  const pool = new SandboxPool({ create: (more) => backend.create(spec, more), size: parallel });
  const evidence = openEvidence(flags.text('evidence'));
  const base = dirname(resolve(file));
  const runner = new TaskRunner({ backend, report, spec, pool, base, evidence });
  const progress = new BatchProgressLine(process.stderr, { isQuiet: flags.has('quiet') });
  try {
    const { failed } = await runBatch({
      input: openBatch(file),
      parallel,
      run: (task, call) => runner.run(task, call),
      write: writeLine,
      onProgress: (now) => progress.update(now),
      signal: stop.signal,
    });
    return stop.exitCode ?? (failed > 0 ? 1 : 0);
  } finally {
    progress.close();
    await pool.close();
    stop.close();
  }
}

/** A directory, with a bundle for each task, named after its line. */
function openEvidence(directory: string | undefined): string | undefined {
  if (directory === undefined) return undefined;
  try {
    makeDirectory(resolve(directory));
  } catch (cause) {
    throw new AssayError(
      'E_USAGE',
      `Cannot make the directory ${JSON.stringify(directory)}: ${(cause as Error).message}`,
      { hint: 'Of a batch, --evidence names a directory', cause },
    );
  }
  return resolve(directory);
}

function readParallel(text: string | undefined): number {
  if (text === undefined) return DEFAULT_PARALLEL;
  const count = parseCount(text);
  if (count !== undefined && count <= 256) return count;
  throw new AssayError('E_USAGE', `--parallel needs ${COUNT_FORM}, at most 256, not "${text}"`);
}

async function* openBatch(file: string): AsyncGenerator<Uint8Array> {
  try {
    yield* file === '-' ? process.stdin : createReadStream(file);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).syscall === undefined) throw cause;
    throw new AssayError('E_USAGE', `Cannot read the tasks: ${(cause as Error).message}`, {
      hint: 'Name a file with one task in JSON a line, or - for standard input',
      cause,
    });
  }
}

/** Standard output blocks, so that this waits for the reader. */
function writeLine(line: string): Promise<void> {
  return new Promise((done, fail) => {
    process.stdout.write(line, (error) => (error ? fail(error) : done()));
  });
}

interface RunnerOptions {
  readonly backend: SandboxBackend;
  readonly report: BackendReport;
  /** What the command line allows: a task can have less of it. */
  readonly spec: SandboxSpec;
  /** Of sandboxes with just that. */
  readonly pool: SandboxPool;
  /** Where the paths of tasks start. */
  readonly base: string;
  readonly evidence: string | undefined;
}

interface Call {
  readonly signal: AbortSignal;
  readonly line: number;
}

class TaskRunner {
  readonly #options: RunnerOptions;
  readonly #workspaceCode: WorkspaceCode;

  constructor(options: RunnerOptions) {
    this.#options = options;
    this.#workspaceCode = new WorkspaceCode(options.spec.workspace);
  }

  /** What is wrong with one task is its result; what is wrong with all of them ends the batch. */
  async run(task: BatchTask, call: Call): Promise<TaskResult> {
    try {
      return await this.#run(task, call);
    } catch (error) {
      if (SandboxError.is(error) && error.code !== 'backend_unavailable')
        return { error: describe(error.code, error) };
      if (error instanceof AssayError) return { error: describe(error.code, error) };
      throw error;
    }
  }

  async #run(task: BatchTask, { signal, line }: Call): Promise<TaskResult> {
    const input = this.#readTask(task);
    const codeSha256 = sha256Hex(input.code);
    const code = await prepareCode(input.language, input.code, this.#options.report);
    if (!('bytes' in code)) {
      const reason = `${input.language} ${code.line}:${code.column}: ${code.message}\n`;
      return makeUnstarted('refused', { reason, codeSha256 });
    }
    let sandbox: Sandbox;
    try {
      sandbox = await this.#take(task, signal);
    } catch (error) {
      if (signal.aborted) return makeUnstarted('aborted', { reason: '', codeSha256 });
      throw error;
    }
    try {
      const { evidence } = this.#options;
      const bundle = evidence === undefined ? undefined : join(evidence, `${line}.bundle.tar.gz`);
      const run = await runCode({
        sandbox,
        state: new FileState(),
        input,
        code,
        signal,
        bundle,
        workspaceCode: this.#workspaceCode,
      });
      return makeOutput(run, Infinity);
    } finally {
      await sandbox[Symbol.asyncDispose]();
    }
  }

  #readTask(task: BatchTask): CodeInput {
    const at = (path: string): string => resolve(this.#options.base, path);
    const { language, stdin, outputs, timeout_ms } = task;
    return {
      language,
      code: task.code ?? readCodeFile(at(task.file ?? '')),
      files: task.files?.map(({ path, content = '', encoding, from }) =>
        from === undefined ? { path, content, encoding } : readInputFile(at(from), path),
      ),
      stdin,
      outputs,
      timeout_ms,
    };
  }

  async #take(task: BatchTask, signal: AbortSignal): Promise<Sandbox> {
    const { backend, spec, pool, report } = this.#options;
    const asked = toTaskLimits(task);
    const isOrdinary =
      task.net === undefined && Object.values(asked).every((value) => value === undefined);
    if (isOrdinary) return pool.take(signal);
    const own = {
      ...spec,
      network: task.net ? narrowNetwork(spec.network, task.net) : spec.network,
      limits: tightenLimits(spec.limits ?? {}, asked),
    };
    requireGuarantees(own, report);
    return backend.create(own, { signal });
  }
}

/** Of what the command line allows. A file of tasks opens nothing by itself. */
function narrowNetwork(all: NetworkSpec | undefined, wanted: readonly string[]): NetworkSpec {
  const allowed = all === undefined || all === 'none' ? [] : all.allow;
  const beyond = wanted.filter((entry) => !allowed.includes(entry));
  if (beyond.length > 0)
    throw new SandboxError(
      'policy_invalid',
      `The task wants to reach ${beyond.join(', ')}, which the command line does not allow`,
      { hint: `Say --net ${beyond.join(',')}` },
    );
  return wanted.length > 0 ? { allow: wanted } : 'none';
}

function describe(
  code: string,
  { message, hint }: { readonly message: string; readonly hint: string | undefined },
): { code: string; message: string; hint?: string } {
  return {
    code,
    message: renameLimits(message, TASK_LIMITS),
    ...(hint === undefined ? {} : { hint: renameLimits(hint, TASK_LIMITS) }),
  };
}
