import type { RunRequest } from '../protocol.ts';
import type { KeeperLine } from './keeper-line.ts';

/** What a worker has to run one program. */
export interface RunContext {
  readonly request: RunRequest;
  readonly module: WebAssembly.Module;
  readonly modules: readonly string[] | undefined;
  readonly canEval: boolean;
  /** The text of what JavaScript finds inside. */
  readonly guest: string;
  readonly line: KeeperLine;
}
