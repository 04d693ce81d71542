/** What a program may read, as it comes; whoever reads first is answered first. */
export class StdinQueue {
  private readonly pieces: Uint8Array[] = [];
  private hasEnded = false;
  private waiting: { readonly maxBytes: number; readonly answer: (data: Uint8Array) => void }[] =
    [];

  /** Nothing more comes after an empty piece. */
  add(piece: Uint8Array): void {
    if (piece.length === 0) this.hasEnded = true;
    else if (!this.hasEnded) this.pieces.push(piece);
    this.serve();
  }

  read(maxBytes: number, answer: (data: Uint8Array) => void): void {
    this.waiting.push({ maxBytes, answer });
    this.serve();
  }

  private serve(): void {
    while (this.waiting.length > 0 && (this.pieces.length > 0 || this.hasEnded)) {
      const reader = this.waiting.shift();
      const piece = this.pieces.shift() ?? new Uint8Array(0);
      const data = piece.slice(0, reader?.maxBytes);
      if (data.length < piece.length) this.pieces.unshift(piece.subarray(data.length));
      reader?.answer(data);
    }
  }
}
