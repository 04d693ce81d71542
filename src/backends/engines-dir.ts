import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const OF_ALL_USERS = '/var/cache/assay';

/** Where `npm run engines` puts what it makes; root's is for everybody who has none of their own. */
export function listEnginesDirs(env: NodeJS.ProcessEnv = process.env): string[] {
  const { ASSAY_ENGINES_DIR: named, XDG_CACHE_HOME: cache } = env;
  if (named !== undefined && named !== '') return [named];
  const own = join(
    cache !== undefined && cache !== '' ? cache : join(homedir(), '.cache'),
    'assay',
  );
  return process.getuid?.() === 0 ? [OF_ALL_USERS] : [own, OF_ALL_USERS];
}

/** The first of these directories that holds `name`; undefined where nobody has made it. */
export function findEngineFile(name: string): string | undefined {
  return listEnginesDirs()
    .map((directory) => join(directory, name))
    .find((path) => existsSync(path));
}
