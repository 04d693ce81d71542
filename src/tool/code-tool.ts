import type { BackendId, BackendReport, Language, SandboxBackend } from '../backends/backend.ts';
import { loadBackend } from '../backends/registry.ts';
import { requireGuarantees } from '../backends/requirements.ts';
import type { ExecEvent, Sandbox } from '../backends/sandbox.ts';
import type { SandboxSpec } from '../backends/spec.ts';
import { sha256Hex } from '../core/digest.ts';
import { type CodeInput, makeInputSchema, requireInput } from './code-input.ts';
import { type CodeOutput, makeOutput, makeUnstarted } from './code-output.ts';
import { FileState } from './file-state.ts';
import { OUTPUT_SCHEMA } from './output-schema.ts';
import { SandboxPool } from './pool.ts';
import { prepareCode, type PreparedCode } from './prepare-code.ts';
import { runCode } from './run-code.ts';
import type { ObjectSchema } from './schema.ts';
import { type Session, Sessions } from './sessions.ts';
import { WorkspaceCode } from './workspace-code.ts';

export const DEFAULT_OUTPUT_CHARS = 30_000;

export interface CodeToolOptions {
  /** `local` unless given. Another one is never taken in its place. */
  readonly backend?: SandboxBackend | BackendId | undefined;
  /** What every sandbox is; closed, unless given. */
  readonly spec?: SandboxSpec | undefined;
  /** Those that may be asked for; all that the backend runs, unless given. */
  readonly languages?: readonly Language[] | undefined;
  /**
   * Whether files live on after a call. `per-call` (unless given): never. `shared`: all calls use one sandbox.
   * `on-request`: where the input says `keep_session`, and then under the name in the result.
   */
  readonly session?: 'per-call' | 'shared' | 'on-request' | undefined;
  /** Of each of stdout and stderr in the result. */
  readonly maxOutputChars?: number | undefined;
  /** Sandboxes that are made ahead. */
  readonly warm?: number | undefined;
  /** Where the evidence of a call goes: a new file of the host for each. */
  readonly bundle?: (() => string) | undefined;
  /** Instead of its own, to be shared with other tools, which close them. */
  readonly sessions?: Sessions | undefined;
  readonly pool?: SandboxPool | undefined;
  /** The same where other tools have the same workspace. */
  readonly workspaceCode?: WorkspaceCode | undefined;
}

export interface CodeToolContext {
  readonly signal?: AbortSignal | undefined;
  readonly onEvent?: ((event: ExecEvent) => void) | undefined;
}

export interface CodeTool extends AsyncDisposable {
  readonly name: 'execute_code';
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  readonly outputSchema: ObjectSchema;
  /** What the code does is in the result. Thrown is what kept it from being run: a `SandboxError`. */
  execute(input: CodeInput, context?: CodeToolContext): Promise<CodeOutput>;
  /** Ends what runs, and the sandboxes that wait or were kept. */
  close(): Promise<void>;
}

export function createCodeTool(options: CodeToolOptions = {}): CodeTool {
  const tool = new SandboxedCodeTool(options);
  return {
    name: 'execute_code',
    description:
      'Run a program in an isolated sandbox and return what it printed, how it ended and which files it changed. ' +
      'It starts in /workspace, with no network and no files of the host unless the sandbox was given them. ' +
      (options.session === 'on-request'
        ? 'Every call starts clean unless keep_session and session say otherwise.'
        : 'Print what you want to see.'),
    inputSchema: tool.inputSchema,
    outputSchema: OUTPUT_SCHEMA,
    execute: (input, context) => tool.execute(input, context ?? {}),
    close: () => tool.close(),
    [Symbol.asyncDispose]: () => tool.close(),
  };
}

class SandboxedCodeTool {
  readonly inputSchema: ObjectSchema;
  readonly #options: CodeToolOptions;
  readonly #sessions: Sessions;
  readonly #ownsSessions: boolean;
  readonly #workspaceCode: WorkspaceCode;
  readonly #running = new Set<AbortController>();
  readonly #pool: SandboxPool | undefined;
  readonly #ending = new Set<Promise<void>>();
  #report: Promise<BackendReport> | undefined;
  #shared: Promise<Session> | undefined;
  #isClosed = false;

  constructor(options: CodeToolOptions) {
    this.#options = options;
    this.#sessions = options.sessions ?? new Sessions();
    this.#ownsSessions = options.sessions === undefined;
    this.#workspaceCode = options.workspaceCode ?? new WorkspaceCode(options.spec?.workspace);
    this.inputSchema = makeInputSchema({
      languages: options.languages,
      hasSessions: options.session === 'on-request',
    });
    const { warm = 0 } = options;
    this.#pool =
      warm > 0
        ? new SandboxPool({ create: (more) => this.#create(more.signal), size: warm })
        : options.pool;
  }

  async execute(input: CodeInput, { signal, onEvent }: CodeToolContext): Promise<CodeOutput> {
    requireInput(input, this.inputSchema);
    const codeSha256 = sha256Hex(input.code);
    const report = await this.#probe();
    requireGuarantees(this.#options.spec ?? {}, report);
    const code = await prepareCode(input.language, input.code, report);
    if (!('bytes' in code)) {
      const { line, column, message } = code;
      const reason = `${input.language} ${line}:${column}: ${message}\n`;
      return makeUnstarted('refused', { reason, codeSha256 });
    }
    const abort = new AbortController();
    const forward = (): void => abort.abort(signal?.reason);
    signal?.addEventListener('abort', forward, { once: true });
    if (signal?.aborted) forward();
    this.#running.add(abort);
    try {
      return await this.#run({ input, code, context: { signal: abort.signal, onEvent } });
    } catch (error) {
      // Before anything was started: whoever called has taken it back.
      if (abort.signal.aborted && !this.#isClosed)
        return makeUnstarted('aborted', { reason: '', codeSha256 });
      throw error;
    } finally {
      signal?.removeEventListener('abort', forward);
      this.#running.delete(abort);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const running of this.#running) running.abort();
    if (this.#pool !== this.#options.pool) await this.#pool?.close();
    if (this.#ownsSessions) await this.#sessions.close();
    await Promise.all(this.#ending);
  }

  async #run(call: Call): Promise<CodeOutput> {
    const { session = 'per-call' } = this.#options;
    const { input } = call;
    if (session === 'shared') {
      this.#shared ??= this.#openSession(call);
      // One that could not be made is tried again by the next call.
      this.#shared.catch(() => (this.#shared = undefined));
      const { id } = await this.#shared;
      return await this.#sessions.use(id, (own) => this.#runIn(own, call, undefined));
    }
    if (input.session !== undefined)
      return await this.#sessions.use(input.session, (own) => this.#runIn(own, call, own.id));
    if (input.keep_session) {
      const { id } = await this.#openSession(call);
      return await this.#sessions.use(id, (own) => this.#runIn(own, call, id));
    }
    const { argv, env, fileName, belongsIntoWorkspace } = call.code;
    if (!belongsIntoWorkspace) this.#pool?.expect({ argv, env, codeName: fileName });
    const sandbox = await this.#take(call);
    try {
      return await this.#runIn({ sandbox, state: new FileState() }, call, undefined);
    } finally {
      this.#end(sandbox);
    }
  }

  /** Nothing runs in it any more, and the result need not wait for its files to go. */
  #end(sandbox: Sandbox): void {
    const ended = sandbox[Symbol.asyncDispose]();
    this.#ending.add(ended);
    // One that cannot be ended stays, and is told when the tool is closed.
    ended.then(
      () => this.#ending.delete(ended),
      () => undefined,
    );
  }

  #openSession(call: Call): Promise<Session> {
    return this.#sessions.open(() => this.#take(call));
  }

  #take({ context: { signal } }: Call): Promise<Sandbox> {
    return this.#pool ? this.#pool.take(signal) : this.#create(signal);
  }

  async #create(signal: AbortSignal | undefined): Promise<Sandbox> {
    const backend = await this.#findBackend();
    return await backend.create(this.#options.spec ?? {}, { signal });
  }

  async #findBackend(): Promise<SandboxBackend> {
    const { backend = 'local' } = this.#options;
    return typeof backend === 'string' ? await loadBackend(backend) : backend;
  }

  async #runIn(
    { sandbox, state }: Pick<Session, 'sandbox' | 'state'>,
    { input, code, context }: Call,
    session: string | undefined,
  ): Promise<CodeOutput> {
    const { maxOutputChars = DEFAULT_OUTPUT_CHARS, bundle } = this.#options;
    const run = await runCode({
      sandbox,
      state,
      input,
      code,
      bundle: bundle?.(),
      workspaceCode: this.#workspaceCode,
      ...context,
    });
    return makeOutput({ ...run, session }, maxOutputChars);
  }

  /** Once: what a backend is does not change between two calls. */
  async #probe(): Promise<BackendReport> {
    this.#report ??= this.#findBackend().then((backend) => backend.probe());
    const report = await this.#report;
    // What was not there may be there next time.
    if (!report.isAvailable) this.#report = undefined;
    return report;
  }
}

interface Call {
  readonly input: CodeInput;
  readonly code: PreparedCode;
  readonly context: CodeToolContext;
}
