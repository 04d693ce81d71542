import type { Socket } from 'node:net';
import { SandboxError } from '../sandbox-error.ts';
import { defer, type Deferred } from './deferred.ts';

/** QEMU's own protocol (QMP): a line of JSON for each command, answer and event. */
export class MachineControl {
  readonly #socket: Socket;
  readonly #waiting: Deferred<unknown>[] = [];
  #text = '';

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.setEncoding('utf8');
    socket.on('data', (text: string) => this.#hear(text));
    socket.on('close', () => {
      const error = new SandboxError('engine_failed', 'QEMU has ended');
      for (const { reject } of this.#waiting.splice(0)) reject(error);
    });
    socket.on('error', () => undefined); // followed by the close
  }

  run(execute: string, args: object = {}): Promise<unknown> {
    const answer = defer<unknown>();
    this.#waiting.push(answer);
    this.#socket.write(`${JSON.stringify({ execute, arguments: args })}\n`);
    return answer.promise;
  }

  #hear(text: string): void {
    const lines = (this.#text + text).split('\n');
    this.#text = lines.pop() ?? '';
    for (const line of lines) {
      const said = JSON.parse(line) as { return?: unknown; error?: { desc?: string } };
      // Besides answers there are the greeting and events.
      if (!('return' in said) && !('error' in said)) continue;
      const answer = this.#waiting.shift();
      if (said.error)
        answer?.reject(new SandboxError('engine_failed', `QEMU says: ${said.error.desc}`));
      else answer?.resolve(said.return);
    }
  }
}
