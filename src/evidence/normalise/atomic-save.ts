import { splitPath } from './split-path.ts';

/**
 * How much of a name is the one that it is renamed to: `settings.json.k2j4h6` becomes `settings.json`, which is a name
 * of its own, as are `.settings.json.k2j4h6` and `HEAD.lock`.
 */
export function lengthOfTarget(name: string, target: string | undefined): number {
  if (target === undefined) return 0;
  const bare = splitPath(target).name.replace(/^\.+/, '');
  const dots = /^\.*/.exec(name)?.[0].length ?? 0;
  return bare.length >= 3 && name.startsWith(bare, dots) ? dots + bare.length : 0;
}
