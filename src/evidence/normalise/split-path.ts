/** The directory of `/a` is empty, as is that of a name without any. */
export function splitPath(path: string): { readonly directory: string; readonly name: string } {
  const at = path.lastIndexOf('/');
  return at < 0
    ? { directory: '', name: path }
    : { directory: path.slice(0, at), name: path.slice(at + 1) };
}
