import { UNPRINTABLE } from '../core/printable.ts';
import { decide } from './decide.ts';
import { escapeLiteral } from './glob.ts';
import type { FsRight, FsRule, Policy, Variables } from './policy.ts';

/** `connect` is to a unix socket by its path. */
export type RefusedOp = FsRight | 'connect';

export interface AllowSuggestion {
  /** The flag for the command line; undefined when no flag can allow this. */
  readonly flag: string | undefined;
  /** The policy that would allow it, as one line of YAML; undefined when adding cannot help. */
  readonly policyLine: string | undefined;
  /** The rule that refused. One that beats every allow (deny, protect) has to be removed where it stands. */
  readonly refusedBy: FsRule | undefined;
}

const FLAGS: Readonly<Record<RefusedOp, string | undefined>> = {
  read: '--allow-read',
  write: '--allow-write',
  exec: undefined,
  connect: '--allow-unix',
};

/** Destinations in the network, which no rule for files allows. */
const NETWORK = /^(?:tcp|udp|raw|icmp|packet|vsock|mptcp|inet|af\d+):/;
/** What the rules for the network can name. */
const ADDRESS = /^tcp:((?:[\d.]+|\[[\da-f:.]+\]):\d+)$/;
/** Somebody asked for a name, and for which one is in the question that was never sent. */
const NAME_SERVER = /^udp:.+:53$/;
/** Where there is no network at all the socket is refused, before it is told where to. */
const ANYWHERE = 'tcp:*';

/** What is guarded in git directories, whatever these are called. */
const GUARDED = /\/(?:config(?:\.worktree)?|hooks(?:\/.*)?)$/s;

export interface SuggestionContext {
  readonly policy: Pick<Policy, 'fs'>;
  readonly variables: Variables;
  /** On the host: what is not there cannot be shown inside, so a new name is allowed by way of its directory. */
  readonly isThere?: ((path: string) => boolean) | undefined;
}

/** What would allow a refused operation. Naming the path itself also lifts configuration protection from it. */
export function suggestAllow(
  op: RefusedOp,
  path: string,
  { policy, variables, isThere }: SuggestionContext,
): AllowSuggestion {
  if (NETWORK.test(path)) return suggestDestination(path);
  const right = op === 'connect' ? 'write' : op;
  const decided = decide(policy, { op: right, path, tmpdir: variables.tmpdir });
  const refusedBy = decided.outcome === 'deny' ? decided.rule : undefined;
  // What is granted and refused all the same is no matter of rules, such as a link where a directory is to be protected.
  const isGranted = op !== 'connect' && decided.outcome === 'allow' && !isOnlyUnnamed(path, policy);
  if (isGranted || (refusedBy && refusedBy.effect !== 'config')) {
    return { flag: undefined, policyLine: undefined, refusedBy };
  }
  const flag = FLAGS[op];
  const isNew =
    op === 'write' && !refusedBy && decided.outcome === 'deny' && isThere?.(path) === false;
  const named = isNew ? findDirectory(path, variables, isThere) : path;
  const entry = JSON.stringify(abbreviatePath(named, variables));
  return {
    flag: flag && `${flag} ${toArgument(named, variables)}`,
    policyLine: op === 'connect' ? `unix: { allow: [${entry}] }` : `fs: { ${op}: [${entry}] }`,
    refusedBy,
  };
}

/** Granted with a directory above it, where its own name is asked for. */
function isOnlyUnnamed(path: string, { fs }: Pick<Policy, 'fs'>): boolean {
  return GUARDED.test(path) && !fs.some(({ pattern }) => pattern === escapeLiteral(path));
}

/** The nearest directory that is there; the path itself where that is the home directory or holds it. */
function findDirectory(
  path: string,
  { home }: Variables,
  isThere: (path: string) => boolean,
): string {
  let at = path;
  while (at !== '' && !isThere(at)) at = at.slice(0, at.lastIndexOf('/'));
  return at === '' || stripPrefix(home, at) !== undefined ? path : at;
}

function suggestDestination(path: string): AllowSuggestion {
  const entry = findEntry(path);
  return {
    flag: entry && `--allow-net ${entry}`,
    policyLine: entry && `net: { allow: [${JSON.stringify(entry)}] }`,
    refusedBy: undefined,
  };
}

function findEntry(path: string): string | undefined {
  if (path === ANYWHERE) return 'HOST:PORT';
  return NAME_SERVER.test(path) ? 'NAME' : ADDRESS.exec(path)?.[1];
}

/** A path as a policy entry, or spelt otherwise, with `${CWD}` or `~` where it starts with one. */
export function abbreviatePath(
  path: string,
  { cwd, home }: Variables,
  spell: (rest: string) => string = escapeLiteral,
): string {
  if (NETWORK.test(path)) return path;
  const inCwd = stripPrefix(path, cwd);
  if (inCwd !== undefined) return `\${CWD}${spell(inCwd)}`;
  const inHome = stripPrefix(path, home);
  if (inHome !== undefined) return `~${spell(inHome)}`;
  return spell(path);
}

/** For a shell, which would replace `${CWD}` itself: relative inside the workspace. */
function toArgument(path: string, { cwd, home }: Variables): string {
  const inCwd = stripPrefix(path, cwd);
  const inHome = stripPrefix(path, home);
  let text = path;
  if (inCwd !== undefined) text = `.${inCwd}`;
  else if (inHome !== undefined) text = `~${inHome}`;
  const escaped = escapeLiteral(text);
  return /^[\w./~@%+:=-]+$/.test(escaped) ? escaped : quote(escaped);
}

/** A control character, printed as it is, would be neither seen nor copied; as bytes it is, whatever the locale. */
function quote(text: string): string {
  if (text.search(UNPRINTABLE) < 0) return `'${text.replaceAll("'", String.raw`'\''`)}'`;
  const shown = text.replaceAll(/[\\']/g, String.raw`\$&`).replace(UNPRINTABLE, spellBytes);
  return `$'${shown}'`;
}

function spellBytes(character: string): string {
  return Buffer.from(character)
    .toString('hex')
    .replaceAll(/../g, String.raw`\x$&`);
}

/** What follows `prefix` in `path`, with its slash; undefined when it is elsewhere. `/` is no abbreviation. */
function stripPrefix(path: string, prefix: string): string | undefined {
  if (prefix === '/' || prefix === '') return undefined;
  return path === prefix || path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : undefined;
}
