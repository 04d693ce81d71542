import type { ServerContext } from '@modelcontextprotocol/server';
import type { ExecEvent } from '../../backends/sandbox.ts';
import { toPrintable } from '../../core/printable.ts';

const INTERVAL_MS = 500;
const MAX_LINE = 200;

/** Tells a client that asked for it how a call is getting on: every half second, with the last line that was printed. */
export class ProgressNotes {
  readonly #request: ServerContext['mcpReq'];
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #started = performance.now();
  #bytes = 0;
  #lastLine = '';

  constructor(request: ServerContext['mcpReq']) {
    this.#request = request;
    if (request._meta?.progressToken === undefined) return;
    this.#timer = setInterval(() => this.#send(), INTERVAL_MS);
    this.#timer.unref();
  }

  heed(event: ExecEvent): void {
    if (!this.#timer || (event.type !== 'stdout' && event.type !== 'stderr')) return;
    this.#bytes += event.data.length;
    const text = Buffer.from(event.data.subarray(-4 * MAX_LINE)).toString('utf8');
    this.#lastLine = text.trimEnd().split('\n').at(-1) ?? '';
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #send(): void {
    const progressToken = this.#request._meta?.progressToken;
    if (progressToken === undefined || this.#request.signal.aborted) return;
    const seconds = (performance.now() - this.#started) / 1000;
    const line = toPrintable(this.#lastLine).slice(0, MAX_LINE);
    const message = `${seconds.toFixed(1)} s, ${this.#bytes} bytes of output${line && `: ${line}`}`;
    // A client that has gone is noticed elsewhere.
    this.#request
      .notify({
        method: 'notifications/progress',
        params: { progressToken, progress: Math.round(seconds * 10) / 10, message },
      })
      .catch(() => undefined);
  }
}
