import type { BackendReport, Guarantees, SandboxBackend } from '../../src/backends/backend.ts';
import type { ExecOptions, ExecResult, FileChange, Sandbox } from '../../src/backends/sandbox.ts';
import { SandboxError } from '../../src/backends/sandbox-error.ts';
import { DEFAULT_LIMITS, LIMIT_NAMES, type SandboxSpec } from '../../src/backends/spec.ts';
import { sha256Hex } from '../../src/core/digest.ts';
import { spellName } from '../../src/core/name-bytes.ts';

/** Runs nothing: what a program would do is a function. For the logic around a backend, never for what one keeps. */
export class FakeBackend implements SandboxBackend {
  readonly id = 'local';
  readonly made: FakeSandbox[] = [];
  readonly specs: SandboxSpec[] = [];
  program: Program = () => Promise.resolve({});
  /** Thrown by the next `create`s. */
  failures: Error[] = [];
  isAvailable = true;
  hasCodePlace = true;
  /** Of a workspace that all sandboxes have. */
  sharedFiles: Map<string, Uint8Array> | undefined;

  probe(): Promise<BackendReport> {
    return Promise.resolve({
      id: 'local',
      isAvailable: this.isAvailable,
      reasons: this.isAvailable ? [] : ['it is switched off'],
      hint: 'switch it on',
      guarantees: GUARANTEES,
      languages: {
        python: { argv: ['python3'] },
        javascript: { argv: ['node'] },
        bash: { argv: ['bash'] },
      },
    });
  }

  create(spec: SandboxSpec): Promise<Sandbox> {
    const failure = this.failures.shift();
    if (failure) return Promise.reject(failure);
    const sandbox = new FakeSandbox(this);
    this.made.push(sandbox);
    this.specs.push(spec);
    return Promise.resolve(
      this.hasCodePlace ? sandbox : Object.assign(sandbox, { putCode: undefined }),
    );
  }

  sweep(): Promise<{ removed: string[]; problems: string[] }> {
    return Promise.resolve({ removed: [], problems: [] });
  }
}

export type Program = (
  call: { argv: readonly string[]; options: ExecOptions; files: Map<string, Uint8Array> },
  sandbox: FakeSandbox,
) => Promise<Partial<ExecResult>>;

export class FakeSandbox implements Sandbox {
  readonly backend = 'local';
  readonly limits = DEFAULT_LIMITS;
  readonly id: string;
  readonly files: Map<string, Uint8Array>;
  readonly calls: { argv: readonly string[]; options: ExecOptions }[] = [];
  isDisposed = false;
  isKilled = false;
  readonly #owner: FakeBackend;

  constructor(owner: FakeBackend) {
    this.#owner = owner;
    this.files = owner.sharedFiles ?? new Map<string, Uint8Array>();
    this.id = `fake-${owner.made.length}`;
  }

  async exec(argv: readonly string[], options: ExecOptions = {}): Promise<ExecResult> {
    if (this.isDisposed) throw new SandboxError('gone', 'gone');
    this.calls.push({ argv, options });
    const files = this.files;
    return { ...RESULT, ...(await this.#owner.program({ argv, options, files }, this)) };
  }

  spawn(): never {
    throw new Error('not used');
  }

  putCode(name: string, code: Uint8Array): Promise<string> {
    this.code = code;
    return Promise.resolve(`/run/code/${name}`);
  }

  code: Uint8Array | undefined;

  readonly fs: Sandbox['fs'] = {
    readFile: (path, { maxBytes } = {}) => Promise.resolve(this.#find(path).slice(0, maxBytes)),
    writeFile: (path, data) => {
      this.files.set(path, Buffer.from(data as Uint8Array));
      return Promise.resolve();
    },
    mkdir: () => Promise.resolve(),
    readdir: () => Promise.resolve([...this.files.keys()]),
    stat: async (path) => ({
      kind: 'file',
      sizeBytes: (await Promise.resolve(this.#find(path))).length,
    }),
    rm: (path) => {
      for (const name of this.files.keys())
        if (name === path || name.startsWith(`${path}/`)) this.files.delete(name);
      return Promise.resolve();
    },
    rename: () => Promise.reject(new Error('not used')),
  };

  changes(): Promise<FileChange[]> {
    return Promise.resolve(
      Array.from(this.files, ([name, data]) => ({
        path: spellName(name),
        change: 'added' as const,
        sha256: sha256Hex(data),
        sizeBytes: data.length,
      })),
    );
  }

  kill(): Promise<void> {
    this.isKilled = true;
    return Promise.resolve();
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.isDisposed = true;
    return Promise.resolve();
  }

  #find(path: string): Uint8Array {
    const data = this.files.get(path);
    if (!data) throw new SandboxError('not_found', `There is no ${path}`);
    return data;
  }
}

const RESULT: ExecResult = {
  outcome: { kind: 'exited', exitCode: 0 },
  isOk: true,
  exitCode: 0,
  stdout: new Uint8Array(),
  stderr: new Uint8Array(),
  truncated: { stdout: 0, stderr: 0 },
  durationMs: 1,
  usage: {},
  denials: [],
  reached: [],
  evidence: {
    runId: 'run-1',
    coverage: {
      files: 'complete',
      programs: 'complete',
      network: 'complete',
      environment: 'complete',
    },
  },
};

const GUARANTEES: Guarantees = {
  kernel: 'shared',
  files: 'allow-list',
  workspace: ['ro', 'rw', 'copy'],
  network: 'none',
  limits: Object.fromEntries(LIMIT_NAMES.map((name) => [name, 'hard'])) as Guarantees['limits'],
  coverage: RESULT.evidence.coverage,
  hasImages: false,
  hasModuleList: false,
  hasEvalSwitch: false,
};
