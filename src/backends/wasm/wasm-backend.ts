import { realpathSync } from 'node:fs';
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
import { type CellWall, confineCell, GUEST_FILE } from './confine-cell.ts';
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
  /** Found out once, when somebody asks. */
  private wall: Promise<CellWall> | undefined;

  constructor({ find = findEngines }: WasmBackendOptions) {
    this.find = find;
  }

  private report(engines: Engines, gaps: readonly string[]): BackendReport {
    const { javascript, python } = engines;
    const found = [javascript, python].filter((engine) => engine !== undefined);
    const isAvailable = found.length > 0;
    return {
      id: this.id,
      isAvailable,
      engine: isAvailable ? found.map(describeEngine).join(', ') : undefined,
      reasons: [...describeMissing(engines), ...gaps],
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

  private async findWall(engines: Engines): Promise<CellWall> {
    this.wall ??= confineCell(engines);
    return await this.wall;
  }

  async probe(): Promise<BackendReport> {
    const engines = this.find();
    const isThere = Object.values(engines).some((engine) => engine !== undefined);
    const { gaps } = isThere ? await this.findWall(engines) : { gaps: [] };
    return this.report(engines, gaps);
  }

  async create(
    spec: SandboxSpec,
    { signal }: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<Sandbox> {
    const engines = this.find();
    requireGuarantees(spec, this.report(engines, []));
    const limits = settleLimits(spec, GUARANTEES);
    const cell = await CellProcess.start(
      {
        engines: { javascript: engines.javascript?.path, python: engines.python?.path },
        guest: realpathSync(distPath(GUEST_FILE)),
        diskBytes: limits.diskBytes ?? DEFAULT_LIMITS.diskBytes,
        inodes: limits.inodes ?? DEFAULT_LIMITS.inodes,
        isWorkspaceReadOnly: spec.workspace?.mode === 'ro',
        modules: spec.modules,
        canEval: spec.canEval ?? true,
      },
      await this.findWall(engines),
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
