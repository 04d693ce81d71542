import { createReadStream, createWriteStream, type WriteStream } from 'node:fs';
import { encodeFrame, FrameReader } from '../frames.ts';
import type { FromCell, ToCell } from '../protocol.ts';
import { Cell } from './cell.ts';
import { FileError } from './errno.ts';
import type { Run } from './run.ts';

const STDIN = 0;
const STDOUT = 1;

/** Answers on its standard streams until its caller goes away. */
class CellServer {
  private readonly program: string;
  private readonly output: WriteStream;
  private readonly runs = new Map<number, Run>();
  /** What came for a run while its engine was being compiled. */
  private readonly early = new Map<number, ((run: Run) => void)[]>();
  private cell: Cell | undefined;

  constructor(program: string, output: WriteStream) {
    this.program = program;
    this.output = output;
  }

  private send(message: FromCell, bytes?: Uint8Array, taken?: () => void): void {
    // Only when it has been taken does the program inside get room for more.
    this.output.write(encodeFrame(message, bytes), () => taken?.());
  }

  private on(id: number, act: (run: Run) => void): void {
    const run = this.runs.get(id);
    if (run) act(run);
    else this.early.get(id)?.push(act);
  }

  private async run(message: ToCell & { type: 'run' }): Promise<void> {
    const { id, request } = message;
    if (!this.cell) throw new Error('There is no cell yet');
    this.early.set(id, []);
    try {
      const run = await this.cell.start(request, (stream, data, taken) =>
        this.send({ type: 'output', id, stream }, data, taken),
      );
      this.runs.set(id, run);
      for (const act of this.early.get(id) ?? []) act(run);
      this.early.delete(id);
      this.send({ type: 'ended', id, end: await run.ended });
    } catch (error) {
      this.send({ type: 'broken', id, reason: String(error) });
    } finally {
      this.early.delete(id);
      this.runs.delete(id);
    }
  }

  private answer({ id, request }: ToCell & { type: 'file' }, bytes: Uint8Array): void {
    if (!this.cell) throw new Error('There is no cell yet');
    try {
      const answer = this.cell.answer(request, bytes);
      this.send({ type: 'file', id, value: answer.value ?? null }, answer.bytes);
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      this.send({ type: 'refused', id, errno: error.errno });
    }
  }

  take(message: ToCell, bytes: Uint8Array): void {
    switch (message.type) {
      case 'config':
        this.cell = new Cell(message.config, this.program);
        this.send({ type: 'ready' });
        return;
      case 'run':
        void this.run(message);
        return;
      case 'stdin':
        this.on(message.id, (run) => run.addStdin(bytes));
        return;
      case 'end':
        this.on(message.id, (run) => run.end(message.outcome));
        return;
      case 'file':
        this.answer(message, bytes);
    }
  }
}

export async function serveCell(program: string): Promise<void> {
  const server = new CellServer(program, createWriteStream('', { fd: STDOUT }));
  const reader = new FrameReader();
  for await (const chunk of createReadStream('', { fd: STDIN }))
    for (const { message, bytes } of reader.feed(chunk as Buffer))
      server.take(message as ToCell, bytes.slice());
  // Whoever held the sandbox is gone, and so is everything in it.
  process.kill(process.pid, 'SIGKILL');
}
