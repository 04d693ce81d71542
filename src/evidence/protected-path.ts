import { matchPattern } from '../policy/glob.ts';
import { PROTECTED_CONFIG, toConfigPattern } from '../policy/protected-config.ts';

export interface ProtectedPaths {
  /** The protected name that covers a path, such as `.vscode`; undefined when none does. */
  find(path: string): string | undefined;
}

/** Made once for many paths: most hold no part of a protected name, and are done after looking up each of theirs. */
export function makeProtectedPaths(): ProtectedPaths {
  const byLastName = new Map<string, string[]>();
  const wild: string[] = [];
  for (const name of PROTECTED_CONFIG) {
    const last = name.slice(name.lastIndexOf('/') + 1);
    if (/[*?[]/.test(last)) wild.push(name);
    else byLastName.set(last, [...(byLastName.get(last) ?? []), name]);
  }
  const covers = (name: string, path: string): boolean => matchPattern(toConfigPattern(name), path);
  return {
    find(path) {
      for (const part of path.split('/')) {
        const found = byLastName.get(part)?.find((name) => covers(name, path));
        if (found !== undefined) return found;
      }
      return wild.find((name) => path.includes(name.replaceAll('*', '')) && covers(name, path));
    },
  };
}
