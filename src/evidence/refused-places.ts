import type { Event } from '../observe/event.ts';
import { decide } from '../policy/decide.ts';
import type { FsRule } from '../policy/policy.ts';
import type { NeededRight, NeedsInput } from './needs.ts';

type RefusedInput = Pick<NeedsInput, 'events' | 'hidden' | 'rules' | 'variables'>;

/** By right: what a run was refused and no deny or protect rule of its policy speaks of. */
export type RefusedPlaces = Readonly<Record<NeededRight, ReadonlySet<string>>>;

/** With the rules that deny and protect, these are what a grant for something else must not give. */
export function findRefused(input: RefusedInput): RefusedPlaces {
  const found = {
    read: new Set<string>(),
    write: new Set<string>(),
    exec: new Set<string>(),
  };
  const judge = makeJudge(input);
  for (const path of input.hidden) if (judge('read', path) === 'refused') found.read.add(path);
  for (const event of input.events)
    for (const { right, path } of listAttempts(event)) {
      const verdict = judge(right, path);
      // A rule that was written by way of a link speaks of another name than the one it refused.
      const isByRule = verdict === 'allowed' && isRefusedByRule(event);
      if (verdict === 'refused' || isByRule) found[right].add(path);
    }
  return found;
}

type Verdict =
  | 'allowed'
  /** By a rule that a suggestion takes over. */
  | 'denied'
  | 'refused';

function makeJudge({
  rules,
  variables: { tmpdir },
}: RefusedInput): (op: NeededRight, path: string) => Verdict {
  return (op, path) => {
    const { outcome, rule } = decide({ fs: rules }, { op, path, tmpdir });
    if (outcome === 'allow') return 'allowed';
    return rule && isRefusing(rule) ? 'denied' : 'refused';
  };
}

/** Whether a rule refuses whatever allows it. */
export function isRefusing({ effect }: FsRule): boolean {
  return effect === 'deny' || effect === 'protect';
}

interface AttemptAt {
  readonly right: NeededRight;
  readonly path: string;
}

function listAttempts(event: Event): AttemptAt[] {
  if (event.kind !== 'file' && event.kind !== 'exec') return [];
  if (!event.decision || event.decision.layer === 'limit') return [];
  if (event.kind === 'exec') return [{ right: 'exec', path: event.path }];
  const { op, path, target } = event;
  if (op === 'read') return [{ right: 'read', path }];
  const hasTwoEnds = (op === 'rename' || op === 'link') && target !== undefined;
  return [path, ...(hasTwoEnds ? [target] : [])].map((end) => ({ right: 'write', path: end }));
}

function isRefusedByRule(event: Event): boolean {
  if (event.kind !== 'file' || event.op === 'rename' || event.op === 'link') return false;
  return event.decision?.layer === 'broker' && event.decision.rule !== null;
}

/** Paths and everything above them. */
export function withParents(paths: Iterable<string>): Set<string> {
  const all = new Set<string>();
  for (const path of paths)
    for (let at = path; at !== '' && !all.has(at); at = at.slice(0, at.lastIndexOf('/')))
      all.add(at);
  return all;
}
