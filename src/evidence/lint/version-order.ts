/** Whether one version comes before another. What follows a hyphen or a plus sign does not count. */
export function isOlder(version: string, than: string): boolean {
  const own = parts(version);
  const other = parts(than);
  for (let at = 0; at < 3; at++) {
    const difference = (own[at] ?? 0) - (other[at] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

export const VERSION_FORM = /^\d{1,6}(?:\.\d{1,6}){0,2}(?:[-+][\w.+-]{1,64})?$/;

function parts(version: string): number[] {
  return version.split(/[-+]/, 1)[0]?.split('.').map(Number) ?? [];
}
