import type { BackendReport, Guarantees, SandboxBackend } from '../backend.ts';
import { requireGuarantees, settleLimits } from '../requirements.ts';
import type { Sandbox } from '../sandbox.ts';
import { DEFAULT_LIMITS, type SandboxSpec } from '../spec.ts';
import { CellProcess } from './cell-process.ts';
import {
  type Engine,
  type Engines,
  findEngines,
  INSTALL_HINT,
  describeMissing,
} from './engines.ts';
import { COVERAGE } from './evidence.ts';
import { distPath } from '../../launch/helper-path.ts';
import type { Program } from './protocol.ts';
import { WasmSandbox } from './wasm-sandbox.ts';

const GUARANTEES: Guarantees = {
  kernel: 'language',
  files: 'given-map',
  workspace: ['ro', 'copy'],
  network: 'none',
  limits: {
    wallMs: 'hard',
    cpuMs: 'soft',
    cpus: 'none',
    memoryBytes: 'hard',
    // There is no way to start another: the one program is all that there can be.
    pids: 'hard',
    diskBytes: 'hard',
    inodes: 'hard',
    outputBytes: 'hard',
    openFiles: 'hard',
  },
  coverage: COVERAGE,
  hasImages: false,
  hasModuleList: true,
  hasEvalSwitch: true,
};

export interface WasmBackendOptions {
  /** Where engines are looked for, for tests of where they are not. */
  readonly find?: (() => Engines) | undefined;
}

function describeEngine({ title, version }: Engine): string {
  return `${title} ${version}`;
}

class WasmBackend implements SandboxBackend {
  readonly id = 'wasm';
  private readonly find: () => Engines;

  constructor({ find = findEngines }: WasmBackendOptions) {
    this.find = find;
  }

  private report(engines: Engines): BackendReport {
    const { javascript, python } = engines;
    const found = [javascript, python].filter((engine) => engine !== undefined);
    const isAvailable = found.length > 0;
    return {
      id: this.id,
      isAvailable,
      engine: isAvailable ? found.map(describeEngine).join(', ') : undefined,
      reasons: describeMissing(engines),
      hint: isAvailable ? undefined : INSTALL_HINT,
      guarantees: GUARANTEES,
      languages: {
        ...(python && { python: { argv: ['python3'], version: python.version } }),
        ...(javascript && {
          javascript: { argv: ['node'], version: javascript.version },
          typescript: { argv: ['node'], version: javascript.version },
        }),
      },
    };
  }

  probe(): Promise<BackendReport> {
    return Promise.resolve(this.report(this.find()));
  }

  async create(
    spec: SandboxSpec,
    { signal }: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<Sandbox> {
    const engines = this.find();
    requireGuarantees(spec, this.report(engines));
    const limits = settleLimits(spec, GUARANTEES);
    const cell = await CellProcess.start(
      {
        engines: { javascript: engines.javascript?.path, python: engines.python?.path },
        guest: distPath('wasm-guest.js'),
        diskBytes: limits.diskBytes ?? DEFAULT_LIMITS.diskBytes,
        inodes: limits.inodes ?? DEFAULT_LIMITS.inodes,
        isWorkspaceReadOnly: spec.workspace?.mode === 'ro',
        modules: spec.modules,
        canEval: spec.canEval ?? true,
      },
      signal,
    );
    const programs = (['python', 'javascript'] as const).filter((name) => engines[name]);
    return await WasmSandbox.open({ cell, spec, limits, programs: new Set<Program>(programs) });
  }

  /** A cell whose supervisor is gone ends itself: it has lost the other end of its streams. */
  sweep(): Promise<{ removed: string[]; problems: string[] }> {
    return Promise.resolve({ removed: [], problems: [] });
  }
}

export function createWasmBackend(options: WasmBackendOptions = {}): SandboxBackend {
  return new WasmBackend(options);
}
