import { quote } from './problems.ts';
import { POLICY_SHAPE, type Shape } from './schema.ts';
import type { SourceNode, SourcePair } from './source-node.ts';

const NONE = /^(block|deny|none|no|off|false|contain)$/i;
const ALL = /^(allow|all|full|yes|on|true|host)$/i;
/** Apart from hosts and ranges: `*.pem` is a pattern of files, `*.example.org` one of hosts. */
const PATH = /^([/~$.]|.*\*\*|\*\.\w+$|.*\/\D)/;
/** The sections in which an entry shows by its form that it belongs there. */
const LISTS = ['fs', 'net', 'unix'];

/** The hint for a value in the wrong form: `net: block` is to be `net: {deny: ["*"]}`. */
export function suggestForm(key: string, node: SourceNode, shape: Shape, file: string) {
  const word = node.kind === 'scalar' ? node.text : '';
  if (/^(fs|net) audit$/i.test(`${key} ${word}`))
    return 'leave it out and run with --dry-run, which refuses nothing and says what would be';
  const allow = shape.kind === 'map' && LISTS.includes(key) ? shape.keys['allow'] : undefined;
  const list = toList(node, allow ?? shape, allow !== undefined);
  const meant = readWord(key, word) ?? (allow && list ? { allow: list } : list);
  return meant && toHint({ [key.slice(key.lastIndexOf('.') + 1)]: meant }, file);
}

/** The hint for a key at the top that belongs into a section: all such keys are one line. */
export function suggestSection(name: string, pairs: readonly SourcePair[], file: string) {
  const { keys } = POLICY_SHAPE;
  for (const section of LISTS) {
    const shape = keys[section];
    const inner = new Map(Object.entries(shape?.kind === 'map' ? shape.keys : {}));
    if (!inner.has(name)) continue;
    const lines = pairs.flatMap(({ key, value }) => {
      const list = Object.hasOwn(keys, key) ? undefined : toList(value, inner.get(key), true);
      return list ? [[key, list]] : [];
    });
    if (!lines.some(([key]) => key === name)) continue;
    const meant = Object.fromEntries(lines);
    const isThere = pairs.some(({ key }) => key === section);
    return toHint(isThere ? meant : { [section]: meant }, file, isThere ? section : undefined);
  }
  return undefined;
}

/** What a word says of all files, the whole network or the environment. */
function readWord(key: string, word: string): object | undefined {
  if (key === 'fs' && NONE.test(word)) return {};
  if (key === 'net' && NONE.test(word)) return { deny: ['*'] };
  if (key === 'net' && ALL.test(word)) return { allow: ['*'] };
  if (key === 'env' && /^(scrub|strict|passthrough)$/.test(word)) return { mode: word };
  return /^net\.(allow|deny)$/.test(key) && ALL.test(word) ? ['*'] : undefined;
}

/** One entry is a list of it. A guess wants what looks like a path for paths, and like none for hosts. */
function toList(node: SourceNode, shape: Shape | undefined, isGuess: boolean) {
  if (shape?.kind !== 'list') return undefined;
  const form = shape.of.kind === 'entry' ? shape.of.text : shape.of;
  if (form.kind !== 'text') return undefined;
  const items = node.kind === 'list' ? node.items : [node];
  const texts = items.map((item) => (item.kind === 'scalar' ? item.value : undefined));
  const isFit = (value: unknown): value is string => {
    if (typeof value !== 'string' || /^$|,|:\/\//.test(value) || form.check?.(value)) return false;
    return !isGuess || PATH.test(value) === !('check' in form);
  };
  return texts.every(isFit) ? texts : undefined;
}

/** The lines to write, unless one is too long, or not printable, to be copied. */
function toHint(meant: object, file: string, section?: string) {
  const lines = Object.entries(meant).map(([key, value]) => {
    const json = JSON.stringify({ [key]: value }).slice(1, -1);
    // Only a key looks like this: a quote within a text has a backslash before it.
    const yaml = json.replace(/,"(\w+)":/g, ', $1: ').replace(/"(\w+)":/g, '$1: ');
    return file.endsWith('.json') ? json : yaml;
  });
  const isWhole = lines.every((line) => quote(line) === `\`${line}\``);
  const where = section === undefined ? '' : ` below \`${section}\``;
  return isWhole ? `write ${lines.map(quote).join(' and ')}${where}` : undefined;
}
