import { MASK } from './masks.ts';
import { splitPath } from './split-path.ts';

const MIN_SIBLINGS = 8;
const MIN_SHARE = 0.9;

/**
 * Many names of one length, beginning and extension, nearly all of them masked: the few that read as words by chance
 * are of the same kind. Changes `forms` in place and tells of each.
 */
export function maskSiblings(
  paths: Iterable<string>,
  forms: Map<string, string>,
  tell: (path: string) => void,
): void {
  const groups = new Map<string, string[]>();
  for (const path of paths) {
    const { directory, name } = splitPath(path);
    const dot = name.indexOf('.');
    const extension = dot < 0 ? '' : name.slice(dot);
    const key = `${directory}/${name.length}/${name.slice(0, 2)}/${extension}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [path]);
    else group.push(path);
  }
  for (const group of groups.values())
    if (group.length >= MIN_SIBLINGS) maskGroup(group, forms, tell);
}

function maskGroup(
  group: readonly string[],
  forms: Map<string, string>,
  tell: (path: string) => void,
): void {
  const counts = new Map<string, number>();
  let masked = 0;
  for (const path of group) {
    const form = forms.get(path) ?? '';
    if (!form.includes(MASK)) continue;
    masked += 1;
    counts.set(form, (counts.get(form) ?? 0) + 1);
  }
  if (masked < MIN_SHARE * group.length) return;
  const [usual] = [...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
  if (usual === undefined) return;
  for (const path of group)
    if (forms.get(path) !== usual[0]) {
      forms.set(path, usual[0]);
      tell(path);
    }
}
