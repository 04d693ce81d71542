import type { Layer } from '../../src/plan/plan.ts';
import type { Fixture } from './fixture.ts';

export type AttackClass =
  | 'file read'
  | 'deny inside allow'
  | 'file write'
  | 'attributes'
  | 'configuration'
  | 'process'
  | 'terminal'
  | 'environment'
  | 'unix socket'
  | 'network'
  | 'system call'
  | 'shared memory'
  | 'privilege'
  | 'limit'
  | 'leftover'
  | 'steering';

/** What stands in the way; `environment`, `descriptors` and `lifetime` are not layers that can be left out. */
export type Control = Layer | 'environment' | 'descriptors' | 'lifetime' | 'set aside' | 'start-up';

export interface RunResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly elapsedMs: number;
  /** The program itself began to run; without this a failure proves nothing. */
  readonly hasStarted: boolean;
}

/** One attack: a program, what should stop it, and how one sees from outside that nothing did. */
export interface Attack {
  readonly id: string;
  readonly title: string;
  readonly class: AttackClass;
  readonly control: readonly Control[];
  /** Shell text; `$1` is the fixture, `$2` the token. Without it the row's id names a C program. */
  readonly script?: string | undefined;
  /** Flags of `assay sandbox`. */
  readonly flags?: ((fixture: Fixture) => readonly string[]) | undefined;
  readonly env?: ((fixture: Fixture) => Readonly<Record<string, string>>) | undefined;
  readonly prepare?: ((fixture: Fixture) => void) | undefined;
  /** Done from outside when the program prints "ready". */
  readonly whenReady?: ((fixture: Fixture) => void) | undefined;
  /** Done from outside for each line the program prints. */
  readonly onLine?: ((line: string, fixture: Fixture) => void) | undefined;
  readonly isSuccess: (result: RunResult, fixture: Fixture) => boolean | Promise<boolean>;
  /** Undoes what the program did to the host when it succeeded. */
  readonly undo?: ((fixture: Fixture) => void) | undefined;
  readonly needs?: 'root' | 'user under root' | 'x64' | undefined;
  /** Why the attack may fail without the sandbox, too; then nothing is shown here, and the row is reported as not run. */
  readonly vacuousWhen?: ((fixture: Fixture) => string | undefined) | undefined;
  readonly hasTerminal?: boolean | undefined;
  /** Stop reading the program's output once it has started. */
  readonly isStalled?: boolean | undefined;
  /** Passed as descriptor 9. */
  readonly inherit?: ((fixture: Fixture) => string) | undefined;
  /** Another installation of assay than the one under test, such as a copy in the workspace. */
  readonly assay?: ((fixture: Fixture) => string) | undefined;
  /** Without the sandbox this is run instead, where the attack is on assay itself. */
  readonly bareScript?: string | undefined;
}
