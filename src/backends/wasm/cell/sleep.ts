/** Waits without turning in circles; whoever ends the run ends this too. */
export function sleep(milliseconds: number): void {
  if (!(milliseconds > 0)) return;
  const nothing = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  Atomics.wait(nothing, 0, 0, milliseconds);
}
