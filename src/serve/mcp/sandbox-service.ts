import type { SandboxBackend } from '../../backends/backend.ts';
import type { SandboxSpec } from '../../backends/spec.ts';
import { SandboxPool } from '../../tool/pool.ts';
import { type SessionOptions, Sessions } from '../../tool/sessions.ts';
import { Toolset } from '../../tool/toolset.ts';
import { WorkspaceCode } from '../../tool/workspace-code.ts';

export interface ServiceOptions extends SessionOptions {
  readonly backend: SandboxBackend;
  readonly spec: SandboxSpec;
  readonly version: string;
  /** Sandboxes that are made ahead. */
  readonly warm?: number | undefined;
  readonly maxOutputChars?: number | undefined;
  readonly bundle?: (() => string) | undefined;
}

/** What all connections of a server share, and the tools of each. */
export class SandboxService {
  readonly version: string;
  readonly #options: ServiceOptions;
  readonly #pool: SandboxPool | undefined;
  readonly #workspaceCode: WorkspaceCode;
  readonly #toolsets = new Set<Toolset>();

  constructor(options: ServiceOptions) {
    this.#options = options;
    this.version = options.version;
    const { backend, spec, warm = 0 } = options;
    this.#workspaceCode = new WorkspaceCode(spec.workspace);
    if (warm > 0)
      this.#pool = new SandboxPool({ create: (more) => backend.create(spec, more), size: warm });
  }

  /** For one connection: its sandboxes are out of reach for any other. */
  openToolset(): Toolset {
    const toolset = new Toolset({
      ...this.#options,
      pool: this.#pool,
      workspaceCode: this.#workspaceCode,
      sessions: new Sessions(this.#options),
    });
    this.#toolsets.add(toolset);
    return toolset;
  }

  async closeToolset(toolset: Toolset): Promise<void> {
    this.#toolsets.delete(toolset);
    await toolset.close();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#toolsets].map((toolset) => this.closeToolset(toolset)));
    await this.#pool?.close();
  }
}
