import type { Duplex } from 'node:stream';
import type Docker from 'dockerode';
import { SandboxError } from '../sandbox-error.ts';
import type { SandboxLimits } from '../spec.ts';
import type { RunDirectory } from '../steward/run-directory.ts';
import { type ChannelUser, StewardLink } from '../steward/steward-link.ts';
import type { Container } from '../steward/steward-sandbox.ts';
import { makeUpdate } from './container-options.ts';
import { makeDemux } from './demux.ts';
import { type Engine, messageOf, statusOf } from './engine.ts';

const HELLO_MS = 30_000;
const MAX_ERROR_CHARS = 2000;
const KILLED_CODE = 137;

export interface EngineContainerInput {
  readonly engine: Engine;
  readonly options: Docker.ContainerCreateOptions;
  readonly directory: RunDirectory;
  readonly limits: SandboxLimits;
  readonly onDoor: (channel: number, link: StewardLink) => ChannelUser;
}

/** A container that an engine keeps, with a steward in it. */
export class EngineContainer implements Container {
  readonly id: string;
  readonly link: StewardLink;
  readonly #input: EngineContainerInput;
  readonly #container: Docker.Container;
  readonly #stream: Duplex;
  #said = '';
  #destroying: Promise<void> | undefined;

  private constructor(input: EngineContainerInput, container: Docker.Container, stream: Duplex) {
    this.id = container.id;
    this.#input = input;
    this.#container = container;
    this.#stream = stream;
    this.link = new StewardLink({ input: stream, onDoor: input.onDoor, onGone: () => undefined });
    const demux = makeDemux({
      stdout: (data) => this.link.receive(data),
      stderr: (data) => (this.#said = `${this.#said}${data}`.slice(-MAX_ERROR_CHARS)),
    });
    stream.on('data', demux);
    // A close follows.
    stream.on('error', () => undefined);
    stream.on('close', () => this.link.fail('its container has ended'));
    stream.on('end', () => this.link.fail('its container has ended'));
  }

  /** Makes, attaches to and starts it; resolves when its steward has said what it found. */
  static async start(input: EngineContainerInput): Promise<EngineContainer> {
    const { engine, options } = input;
    let made: Docker.Container | undefined;
    let own: EngineContainer | undefined;
    try {
      made = await engine.docker.createContainer(options);
      const stream = await made.attach({
        stream: true,
        stdin: true,
        stdout: true,
        stderr: true,
        hijack: true,
      });
      own = new EngineContainer(input, made, stream as Duplex);
      await made.start();
      await own.#waitForHello();
      return own;
    } catch (error) {
      if (own) await own.destroy();
      else await made?.remove({ force: true }).catch(() => undefined);
      throw toStartError(error, options.Image ?? '', own ? own.#said : '');
    }
  }

  async #waitForHello(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error('nothing was heard of it')), HELLO_MS);
    });
    await Promise.race([this.link.hello, late]).finally(() => clearTimeout(timer));
  }

  async destroy(): Promise<void> {
    this.#destroying ??= this.#destroy();
    await this.#destroying;
  }

  async #destroy(): Promise<void> {
    try {
      await this.#container.remove({ force: true, v: true });
    } catch (cause) {
      // Gone, or about to be: the engine forgets it by itself when its steward ends.
      if (statusOf(cause) !== 404 && statusOf(cause) !== 409)
        throw new SandboxError('engine_failed', `Cannot remove a container: ${messageOf(cause)}`, {
          cause,
          hint: `Its id is ${this.id}; sweep() removes it when this process has ended`,
        });
    } finally {
      this.link.fail('it was disposed of');
      await closeStream(this.#stream);
      await this.#input.directory.remove();
    }
  }

  async findEnd(): Promise<{ isOutOfMemory: boolean; reason: string }> {
    try {
      const { State } = await this.#container.inspect();
      const reason = `exit code ${State.ExitCode} ${this.#said}`.trim();
      return { isOutOfMemory: State.OOMKilled || State.ExitCode === KILLED_CODE, reason };
    } catch (error) {
      return { isOutOfMemory: false, reason: `${messageOf(error)} ${this.#said}`.trim() };
    }
  }

  async tighten(limits: SandboxLimits): Promise<() => Promise<void>> {
    const names = Object.keys(limits) as (keyof SandboxLimits)[];
    const back = Object.fromEntries(names.map((name) => [name, this.#input.limits[name]]));
    try {
      await this.#container.update(makeUpdate(limits));
    } catch (cause) {
      throw new SandboxError(
        'policy_unenforceable',
        `The engine cannot give one call less of ${names.join(', ')}: ${messageOf(cause)}`,
        { cause, hint: 'Ask for it when the sandbox is made' },
      );
    }
    return async () => {
      if (!this.link.isGone) await this.#container.update(makeUpdate(back));
    };
  }

  async putCode(name: string, code: Uint8Array): Promise<string> {
    return await this.#input.directory.putCode(name, code);
  }
}

function toStartError(error: unknown, image: string, said: string): SandboxError {
  if (statusOf(error) === 404 && /no such image|image not known/i.test(messageOf(error)))
    return new SandboxError('image_unavailable', `The engine has no image ${image}`, {
      cause: error,
      hint: `Get it first, such as by docker pull ${image}; nothing is fetched for a sandbox`,
    });
  if (SandboxError.is(error) && error.code !== 'gone') return error;
  const detail = [messageOf(error), said.trim()].filter((text) => text !== '').join('; ');
  return new SandboxError('start_failed', `Cannot start the container: ${detail}`, {
    cause: error,
    hint: 'The engine has to be on this machine, and see its files',
  });
}

/** It may end with an error, which says no more than that the container is gone. */
async function closeStream(stream: Duplex): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    if (stream.closed) resolve();
    else stream.once('close', resolve);
  });
  stream.destroy();
  await closed;
}
