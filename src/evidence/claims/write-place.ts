/** Devices that keep nothing of what is written to them, or hand it to whoever started the command. */
const SINKS =
  /^\/dev\/(?:null|zero|full|random|urandom|tty|ptmx|console|stdin|stdout|stderr|fd\/[^/]*|pts\/[^/]*)$/;

/** Of the process itself, and gone with it; what steers the machine is elsewhere in /proc. */
const OWN_PROCESS = /^\/proc\/(?:self|thread-self|\d+|\$\{\w+\})\//;

/** Whether something that lasts is written there, and neither in the workspace nor in the private tmp. */
export function isOutsideWorkspace(path: string): boolean {
  if (path.split('/').includes('..')) return true;
  for (const place of ['${CWD}', '${TMPDIR}'])
    if (path === place || path.startsWith(`${place}/`)) return false;
  return !SINKS.test(path) && !OWN_PROCESS.test(path);
}
