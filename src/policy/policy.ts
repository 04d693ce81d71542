import type { Place } from '../core/errors.ts';

/** Where a rule comes from, for messages: `policy.yaml:6:5`, `preset coding-agent`, `--allow-read`. */
export interface Origin {
  readonly source: string;
  /** The policy key, such as `fs.read`. */
  readonly key: string;
  /** The entry as the user wrote it. */
  readonly text: string;
  readonly at?: Place | undefined;
  /** Found on this machine, not written in a policy: it is another one elsewhere. */
  readonly isOfHost?: true | undefined;
}

export type FsRight = 'read' | 'write' | 'exec';

/**
 * One file rule after expansion. `pattern` is absolute, with `*`, `?`, `[…]` inside a segment and
 * `**` as a whole segment; it covers what it names and everything below that.
 *
 * - allow: `rights` are granted.
 * - deny: `rights` are refused, whatever allows them.
 * - protect: writing is refused, whatever allows it.
 * - config: configuration protection. As protect, but a rule that names the file (its own pattern lies at or
 *   below the protected one) lifts it, and nothing inside the private tmp is protected.
 */
export interface FsRule {
  readonly effect: 'allow' | 'deny' | 'protect' | 'config';
  readonly rights: readonly FsRight[];
  readonly pattern: string;
  readonly origin: Origin;
  /** A system directory or device of the baseline, which every host shows at this very path. */
  readonly isSystem?: boolean | undefined;
}

export interface NetRule {
  readonly effect: 'allow' | 'deny';
  readonly text: string;
  readonly origin: Origin;
}

export interface EnvRules {
  readonly mode: 'scrub' | 'strict' | 'passthrough';
  readonly isExecStripped: boolean;
  readonly isPathSafe: boolean;
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  readonly set: Readonly<Record<string, string>>;
}

export interface Limits {
  readonly timeoutMs?: number | undefined;
  readonly cpuMs?: number | undefined;
  readonly memoryBytes?: number | undefined;
  readonly pids?: number | undefined;
  readonly diskBytes?: number | undefined;
  /** Files and directories the run may create. */
  readonly files?: number | undefined;
  /** Open files a process. */
  readonly openFiles?: number | undefined;
}

export interface Policy {
  /** File path or preset name, as shown in the banner. */
  readonly name: string;
  readonly isDefault: boolean;
  readonly fs: readonly FsRule[];
  readonly net: readonly NetRule[];
  /** Pathname sockets outside that may be connected to. */
  readonly unix: readonly FsRule[];
  readonly env: EnvRules;
  readonly limits: Limits;
}

/** What `${CWD}`, `${HOME}`, `${TMPDIR}`, `${USER}` and `~` stand for in one run. */
export interface Variables {
  readonly cwd: string;
  readonly home: string;
  readonly tmpdir: string;
  readonly user: string;
}
