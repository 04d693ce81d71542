const EXTREMES = [0x7fff_ffff, 0x8000_0000, 0xffff_ffff];

/** The same bytes cut at every place, with one bit of every byte turned, and with absurd numbers wherever one fits. */
export function damage(bytes: Buffer): Buffer[] {
  const cuts = Array.from(bytes, (_, at) => bytes.subarray(0, at));
  const flips = Array.from(bytes, (byte, at) => {
    const copy = Buffer.from(bytes);
    // Any bit will do, the same one every time.
    copy[at] = byte ^ (1 << ((at * 5) % 8));
    return copy;
  });
  const absurd = EXTREMES.flatMap((number) =>
    Array.from({ length: Math.floor(bytes.length / 4) }, (_, at) => {
      const copy = Buffer.from(bytes);
      copy.writeUInt32LE(number, at * 4);
      return copy;
    }),
  );
  return [...cuts, ...flips, ...absurd];
}
