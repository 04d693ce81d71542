import type { Evidence, Operations } from '../evidence/evidence.ts';
import { isRefusing } from '../evidence/refused-places.ts';
import { resolvePolicy } from '../policy/combine.ts';
import { findConflicts } from '../policy/conflicts.ts';
import { decide } from '../policy/decide.ts';
import type { PolicyData } from '../policy/document.ts';
import { matchPattern } from '../policy/glob.ts';
import type { FsRule, Policy } from '../policy/policy.ts';
import { toSpeltEntry } from './name-pattern.ts';

type Fs = NonNullable<PolicyData['fs']>;

/** Entries that refuse what a policy would grant beyond what its runs were given. */
export type Refusals = Pick<Fs, 'deny' | 'protect'>;

/**
 * The rules of the runs that cut into the grants, and the attempts that were refused for want of a rule and lie in what
 * is granted for another reason.
 */
export function findRefusals(runs: readonly Evidence[], granted: PolicyData): Refusals {
  const deny = new Set<string>();
  const protect = new Set<string>();
  for (const run of runs) {
    const { rules } = run.run.needs;
    const fs = { ...granted.fs, deny: rules.deny, protect: rules.protect };
    for (const { effect, origin } of findCutting(run, { ...granted, fs }))
      (effect === 'deny' ? deny : protect).add(origin.text);
  }
  const cut = { ...granted, fs: { ...granted.fs, deny: [...deny], protect: [...protect] } };
  for (const run of runs) {
    const policy = loadIn(run, cut);
    const { refused } = run.run.needs;
    const isOpen = (right: keyof typeof refused, path: string): boolean =>
      decide(policy, { op: right, path: toReal(path, run), tmpdir: run.run.directories.tmpdir })
        .outcome === 'allow' && !runs.some((other) => other !== run && isUsedIn(other, path));
    for (const path of refused.read) if (isOpen('read', path)) deny.add(toSpeltEntry(path));
    for (const path of refused.exec) if (isOpen('exec', path)) deny.add(toSpeltEntry(path));
    for (const path of refused.write) if (isOpen('write', path)) protect.add(toSpeltEntry(path));
  }
  return {
    ...(deny.size > 0 && { deny: [...deny].sort() }),
    ...(protect.size > 0 && { protect: [...protect].sort() }),
  };
}

/** What was done in some run and a policy denies all the same. */
export function listDenied(runs: readonly Evidence[], refusals: Refusals): string[] {
  const found = new Set<string>();
  for (const run of runs) {
    const rules = loadIn(run, { fs: refusals }).fs.filter(isRefusing);
    if (rules.length === 0) continue;
    for (const [path, ops] of Object.entries(run.entries.files)) {
      const real = toReal(path, run);
      if (rules.some((rule) => isDone(ops, rule) && matchPattern(rule.pattern, real)))
        found.add(path);
    }
  }
  return [...found].sort();
}

/** Of paths of a run as its evidence shows them: whether nobody may write them. */
export function makeRefusedTest(run: Evidence, refusals: Refusals): (path: string) => boolean {
  const rules = loadIn(run, { fs: refusals }).fs.filter(isRefusing);
  return (path) => rules.some(({ pattern }) => matchPattern(pattern, toReal(path, run)));
}

function findCutting(run: Evidence, policy: PolicyData): FsRule[] {
  const { fs, unix } = loadIn(run, policy);
  // A denied place is denied as a socket, too.
  return findConflicts({ fs: [...fs, ...unix] }).map(({ deny }) => deny);
}

/** As `--policy` loads it, in the directories of a run. */
function loadIn({ run }: Evidence, policy: PolicyData): Policy {
  const name = '/suggested.yaml';
  return resolvePolicy({
    file: name,
    variables: { ...run.directories, user: run.user },
    files: { read: () => '', parse: () => ({ name, data: policy }), locate: () => name },
  });
}

/** Whether something was done at or below a path. */
function isUsedIn({ entries }: Evidence, path: string): boolean {
  return Object.entries(entries.files).some(
    ([used, ops]) =>
      (used === path || used.startsWith(`${path}/`)) &&
      Object.values(ops).some((outcomes) => outcomes['ok']),
  );
}

function isDone(ops: Operations, { rights }: FsRule): boolean {
  return Object.entries(ops).some(
    ([op, outcomes]) => outcomes['ok'] && rights.includes(op === 'read' ? 'read' : 'write'),
  );
}

/** A path that starts with the name of a directory of the run, as it is on the host. */
function toReal(path: string, { run: { directories } }: Evidence): string {
  return path.replace(/^\$\{(CWD|HOME|TMPDIR)\}/, (all: string, name: string) => {
    const { cwd, home, tmpdir } = directories;
    return (
      new Map([
        ['CWD', cwd],
        ['HOME', home],
        ['TMPDIR', tmpdir],
      ]).get(name) ?? all
    );
  });
}
