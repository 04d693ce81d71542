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

/** What requests to an allowed host may be. A list that is not there allows everything. */
export interface HttpRules {
  /** In upper case. */
  readonly methods?: readonly string[] | undefined;
  /** Each covers itself and what is below it: `/api` and `/api/` cover `/api/x`, and neither covers `/apix`. */
  readonly paths?: readonly string[] | undefined;
}

export interface NetRule {
  readonly effect: 'allow' | 'deny';
  /** An entry as net-target.ts reads it. */
  readonly text: string;
  readonly origin: Origin;
  /** What a set stands for that only this host can tell (`npm`, `pip`, `cargo`), as entries. */
  readonly entries?: readonly string[] | undefined;
  readonly http?: HttpRules | undefined;
  /** Whether TLS to the host may be opened, so that its requests can be seen. */
  readonly isTlsOpened?: boolean | undefined;
  /** By the clock of the run. */
  readonly expiresAtMs?: number | undefined;
  /** From the start of the run on; what that makes by the clock is in no policy. */
  readonly lastsMs?: number | undefined;
}

/** A header that assay adds to requests to a host, outside; its value is never part of the policy. */
export interface InjectRule {
  /** A host, as an entry of `net.allow`. */
  readonly text: string;
  readonly header: string;
  /** Where the value comes from, on the host. */
  readonly from:
    | { readonly env: string; readonly command?: undefined }
    | { readonly env?: undefined; readonly command: readonly string[] };
  readonly isTlsOpened: boolean;
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
  readonly inject: readonly InjectRule[];
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
