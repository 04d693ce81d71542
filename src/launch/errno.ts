/** `EACCES (13)`, from the numbers of this platform. */
export function describeErrno(errno: number): string {
  const name = nameErrno(errno);
  return name ? `${name} (${errno})` : `error ${errno}`;
}

/** `EACCES`. Loaded when it is needed: a run that goes well has no error to name. */
export function nameErrno(errno: number): string | undefined {
  const { constants } = process.getBuiltinModule('node:os');
  return Object.entries(constants.errno).find(([, value]) => value === errno)?.[0];
}
