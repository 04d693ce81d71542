import { MASK } from './masks.ts';
import { splitPath } from './split-path.ts';

const MIN_SIBLINGS = 4;
/** As many of them may read as words, and one where there are fewer. */
const MAX_SHARE = 0.1;

/**
 * Several names of one length, beginning and extension, nearly all of them masked: one that reads as a word by chance
 * is of the same kind. Changes `forms` in place and tells of each.
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
  if (group.length - masked > Math.max(1, MAX_SHARE * group.length)) return;
  const [usual] = [...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
  if (usual === undefined) return;
  const [form] = usual;
  for (const path of group)
    if (forms.get(path) !== form && isLike(forms.get(path) ?? '', form)) {
      forms.set(path, form);
      tell(path);
    }
}

/** Whether a name begins and ends as a form with a mask in it does. */
function isLike(name: string, form: string): boolean {
  const start = form.slice(0, form.indexOf(MASK));
  const end = form.slice(form.lastIndexOf(MASK) + MASK.length);
  return name.startsWith(start) && name.endsWith(end);
}
