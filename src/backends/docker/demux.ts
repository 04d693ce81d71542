/** Where the bytes of each stream go. */
export interface Demuxed {
  readonly stdout: (data: Buffer) => void;
  readonly stderr: (data: Buffer) => void;
}

const HEADER_BYTES = 8;
const STDERR = 2;

/**
 * Takes apart what an engine sends of a container without a terminal: one byte for the stream, three of zero, four of
 * length, then so many bytes. Pieces are handed on as they come, without waiting for the rest.
 */
export function makeDemux({ stdout, stderr }: Demuxed): (chunk: Buffer) => void {
  const header = Buffer.alloc(HEADER_BYTES);
  let have = 0;
  let left = 0;
  return (chunk) => {
    for (let at = 0; at < chunk.length;) {
      if (left === 0) {
        const taken = chunk.copy(header, have, at, at + HEADER_BYTES - have);
        have += taken;
        at += taken;
        if (have < HEADER_BYTES) return;
        have = 0;
        left = header.readUInt32BE(4);
        continue;
      }
      const piece = chunk.subarray(at, at + left);
      left -= piece.length;
      at += piece.length;
      (header[0] === STDERR ? stderr : stdout)(piece);
    }
  };
}
