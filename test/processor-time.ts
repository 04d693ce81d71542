/** Milliseconds that this process has computed since, whatever else the machine does meanwhile. */
export function watchProcessor(): () => number {
  const before = process.cpuUsage();
  return () => process.cpuUsage(before).user / 1000;
}
