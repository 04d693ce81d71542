/** As `node:path` of POSIX. */
export const sep = '/';
export const delimiter = ':';

export function isAbsolute(path: string): boolean {
  return path.startsWith('/');
}

export function normalize(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part === '..' && parts.length > 0 && parts.at(-1) !== '..') parts.pop();
    else if (part !== '..' || !isAbsolute(path)) parts.push(part);
  }
  const body = parts.join('/');
  const tail = path.endsWith('/') && body ? '/' : '';
  return isAbsolute(path) ? `/${body}${tail}` : `${body || '.'}${tail}`;
}

export function join(...parts: readonly string[]): string {
  return normalize(parts.filter((part) => part !== '').join('/') || '.');
}

export function makeResolve(cwd: () => string): (...parts: readonly string[]) => string {
  return (...parts) => {
    let path = '';
    for (const part of [cwd(), ...parts]) path = isAbsolute(part) ? part : `${path}/${part}`;
    const whole = normalize(path);
    return whole.length > 1 && whole.endsWith('/') ? whole.slice(0, -1) : whole;
  };
}

export function dirname(path: string): string {
  const trimmed = path.replace(/(?<=.)\/+$/, '');
  const at = trimmed.lastIndexOf('/');
  if (at < 0) return '.';
  return trimmed.slice(0, at).replace(/\/+$/, '') || '/';
}

export function basename(path: string, suffix = ''): string {
  const name = path.replace(/\/+$/, '').split('/').at(-1) ?? '';
  return suffix && name !== suffix && name.endsWith(suffix) ? name.slice(0, -suffix.length) : name;
}

export function extname(path: string): string {
  const name = basename(path);
  const at = name.lastIndexOf('.');
  return at > 0 ? name.slice(at) : '';
}

export function parse(path: string): Record<'root' | 'dir' | 'base' | 'ext' | 'name', string> {
  const base = basename(path);
  const ext = extname(path);
  const dir = path.includes('/') ? dirname(path) : '';
  return { root: isAbsolute(path) ? '/' : '', dir, base, ext, name: basename(base, ext) };
}

export function makeRelative(
  resolve: (...parts: readonly string[]) => string,
): (from: string, to: string) => string {
  return (from, to) => {
    const source = resolve(from).split('/').filter(Boolean);
    const target = resolve(to).split('/').filter(Boolean);
    let same = 0;
    while (same < source.length && source[same] === target[same]) same += 1;
    return [...source.slice(same).map(() => '..'), ...target.slice(same)].join('/');
  };
}
