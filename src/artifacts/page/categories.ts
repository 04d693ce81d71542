import type { Row } from './model.ts';

/** What was done to a file, the gravest first: a file counts once, under the first that holds. */
export const CATEGORIES = [
  'refused',
  'removed',
  'created',
  'written',
  'moved',
  'ran',
  'attributes',
  'read',
  'failed',
] as const;
export type Category = (typeof CATEGORIES)[number];

export const CATEGORY_TITLES: Readonly<Record<Category, string>> = {
  refused: 'Refused',
  removed: 'Removed',
  created: 'Created',
  written: 'Written',
  moved: 'Moved or linked',
  ran: 'Executed',
  attributes: 'Attributes',
  read: 'Read',
  failed: 'Not there, or failed',
};

const BY_OP: ReadonlyMap<string, Category> = new Map<string, Category>([
  ['read', 'read'],
  ['write', 'written'],
  ['truncate', 'written'],
  ['create', 'created'],
  ['mkdir', 'created'],
  ['mknod', 'created'],
  ['symlink', 'created'],
  ['unlink', 'removed'],
  ['rmdir', 'removed'],
  ['rename', 'moved'],
  ['link', 'moved'],
  ['meta', 'attributes'],
  ['chmod+x', 'attributes'],
  ['chmod+s', 'attributes'],
  ['chmod', 'attributes'],
  ['chown', 'attributes'],
  ['utimes', 'attributes'],
  ['xattr', 'attributes'],
  ['exec', 'ran'],
  ['access', 'read'],
  // What was left in the end: a write that has made a file, or replaced one, is told apart by that.
  ['created', 'created'],
  ['modified', 'written'],
  ['removed', 'removed'],
  ['attributes', 'attributes'],
]);

export function categoryOf({ outcomeClass, op }: Pick<Row, 'outcomeClass' | 'op'>): Category {
  if (outcomeClass === 'refused') return 'refused';
  if (outcomeClass === 'failed') return 'failed';
  return BY_OP.get(op) ?? 'read';
}
