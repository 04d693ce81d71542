import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { SandboxError } from '../sandbox-error.ts';
import type { RunDirectory } from '../steward/run-directory.ts';
import { type ChannelUser, StewardLink } from '../steward/steward-link.ts';
import type { Container } from '../steward/steward-sandbox.ts';
import type { Runsc } from './runsc.ts';

const run = promisify(execFile);
const HELLO_MS = 30_000;
/** How long a steward has to end by itself; it does nothing else once nobody speaks to it. */
const ENDING_MS = 1500;
const MAX_ERROR_CHARS = 2000;
const KILLED_CODE = 137;
export const STATE = 'state';

export interface RunscContainerInput {
  readonly runsc: Runsc;
  readonly config: object;
  readonly directory: RunDirectory;
  readonly onDoor: (channel: number, link: StewardLink) => ChannelUser;
}

/** A sandbox of gVisor that no engine keeps: a child of this process. */
export class RunscContainer implements Container {
  readonly link: StewardLink;
  readonly #input: RunscContainerInput;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #ended: Promise<number | null>;
  #said = '';
  #destroying: Promise<void> | undefined;

  private constructor(input: RunscContainerInput) {
    const { runsc, directory, config } = input;
    this.#input = input;
    mkdirSync(join(directory.path, STATE));
    writeFileSync(join(directory.path, 'config.json'), JSON.stringify(config));
    const args = [...this.#flags, 'run', '-bundle', directory.path, this.#name];
    // In a group of its own: an interrupt at the terminal is not for it.
    this.#child = spawn(runsc.path, args, { stdio: 'pipe', detached: true, cwd: '/' });
    const { stdin, stdout, stderr } = this.#child;
    this.#ended = new Promise((resolve) => {
      this.#child.once('close', (code) => resolve(code));
      this.#child.once('error', (error) => {
        this.#said += error.message;
        resolve(null);
      });
    });
    this.link = new StewardLink({
      input: stdin,
      onDoor: input.onDoor,
      onGone: () => undefined,
    });
    // A close follows.
    stdin.on('error', () => undefined);
    stdout.on('data', (data: Buffer) => this.link.receive(data));
    stderr.on('data', (data: Buffer) => {
      this.#said = `${this.#said}${data}`.slice(-MAX_ERROR_CHARS);
    });
    void this.#ended.then(() => this.link.fail('its sandbox has ended'));
  }

  static async start(input: RunscContainerInput): Promise<RunscContainer> {
    const own = new RunscContainer(input);
    const late = new AbortController();
    const silence = pause(HELLO_MS, undefined, { signal: late.signal }).then(() => {
      throw new Error('nothing was heard of it');
    });
    try {
      await Promise.race([own.link.hello, silence]);
      return own;
    } catch (cause) {
      await own.destroy();
      const said = own.#said.trim() || (cause as Error).message;
      throw new SandboxError('start_failed', `Cannot start runsc: ${said}`, { cause });
    } finally {
      silence.catch(() => undefined);
      late.abort();
    }
  }

  get #name(): string {
    return basename(this.#input.directory.path);
  }

  get #flags(): readonly string[] {
    const { runsc, directory } = this.#input;
    return ['--root', join(directory.path, STATE), ...runsc.flags];
  }

  async destroy(): Promise<void> {
    this.#destroying ??= this.#destroy();
    await this.#destroying;
  }

  async #destroy(): Promise<void> {
    this.link.killAll();
    this.link.fail('it was disposed of');
    // The steward ends when nobody speaks to it any more, and everything with it.
    this.#child.stdin.end();
    const isLate = await Promise.race([
      this.#ended.then(() => false),
      pause(ENDING_MS, true, { ref: false }),
    ]);
    if (isLate) await this.#force();
    await this.#input.directory.remove();
  }

  async #force(): Promise<void> {
    const { runsc } = this.#input;
    // Gone already, or so broken that only its processes can be ended.
    await run(runsc.path, [...this.#flags, 'delete', '-force', this.#name]).catch(() => undefined);
    const isLate = await Promise.race([
      this.#ended.then(() => false),
      pause(ENDING_MS, true, { ref: false }),
    ]);
    if (isLate) this.#child.kill('SIGKILL');
    await this.#ended;
  }

  async findEnd(): Promise<{ isOutOfMemory: boolean; reason: string }> {
    const code = await this.#ended;
    // Nobody else kills it: the kernel does when its control group is out of memory.
    const isOutOfMemory = this.#input.runsc.isRoot && code === KILLED_CODE;
    return { isOutOfMemory, reason: `exit code ${code} ${this.#said}`.trim() };
  }

  async tighten(): Promise<() => Promise<void>> {
    throw new SandboxError(
      'policy_unenforceable',
      'gVisor cannot give one call less than its sandbox',
      { hint: 'Ask for it when the sandbox is made' },
    );
  }

  async putCode(name: string, code: Uint8Array): Promise<string> {
    return await this.#input.directory.putCode(name, code);
  }
}
