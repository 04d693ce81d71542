import { Agent } from 'node:http';
import type Docker from 'dockerode';
import { SandboxError } from '../sandbox-error.ts';
import { describeEndpoint, type Endpoint, type Endpoints, listEndpoints } from './endpoint.ts';
import type { RuntimeImage } from './runtime-image.ts';

/** What an engine says of itself, as far as it matters here. */
export interface EngineFacts {
  readonly name: 'dockerd' | 'podman';
  readonly version: string;
  readonly arch: string;
  readonly osType: string;
  readonly runtimes: readonly string[];
  readonly hasMemoryLimit: boolean;
  readonly hasPidsLimit: boolean;
  readonly hasCpuQuota: boolean;
  readonly hasSeccomp: boolean;
  readonly isRootless: boolean;
  /** Whether a memory file system can have an owner and a number of files; Podman takes its size only. */
  readonly hasTmpfsOptions: boolean;
}

interface Info {
  readonly OSType?: string;
  readonly Architecture?: string;
  readonly Runtimes?: Readonly<Record<string, unknown>>;
  readonly MemoryLimit?: boolean;
  readonly PidsLimit?: boolean;
  readonly CpuCfsQuota?: boolean;
  readonly SecurityOptions?: readonly string[];
}

const ANSWER_MS = 5000;

/** Loaded when it is needed: most runs have nothing to do with containers. */
async function loadDockerode(): Promise<typeof Docker> {
  return (await import('dockerode')).default;
}

export function statusOf(error: unknown): number | undefined {
  return (error as { readonly statusCode?: number }).statusCode;
}

export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { json } = error as { readonly json?: { readonly message?: string } };
  return (json?.message ?? error.message).trim();
}

/** An engine that answers, and what it has. */
export class Engine {
  readonly docker: Docker;
  readonly facts: EngineFacts;
  #loading: Promise<void> | undefined;

  private constructor(docker: Docker, facts: EngineFacts) {
    this.docker = docker;
    this.facts = facts;
  }

  /** The first that answers; throws `backend_unavailable` with what each said. */
  static async find(endpoints: Endpoints = listEndpoints()): Promise<Engine> {
    if ('problem' in endpoints) throw makeUnavailable(endpoints.problem);
    const problems: string[] = [];
    for (const endpoint of endpoints.list) {
      try {
        return await Engine.#connect(endpoint);
      } catch (error) {
        if (SandboxError.is(error)) throw error;
        problems.push(`${describeEndpoint(endpoint)}: ${messageOf(error)}`);
      }
    }
    throw makeUnavailable(
      problems.length > 0 ? problems.join('; ') : 'there is no socket of Docker or Podman',
    );
  }

  static async #connect(endpoint: Endpoint): Promise<Engine> {
    const Dockerode = await loadDockerode();
    const docker = new Dockerode(
      'socketPath' in endpoint ? endpoint : { ...endpoint, protocol: 'http' },
    );
    // No connection stays open when nothing is asked.
    Object.assign(docker.modem as object, { agent: new Agent({ keepAlive: false }) });
    // One after the other: of two that fail, one would be left open.
    const version = await within(ANSWER_MS, docker.version());
    const info = await within(ANSWER_MS, docker.info() as Promise<Info>);
    const parts = (version as { readonly Components?: readonly { readonly Name: string }[] })
      .Components;
    const options = info.SecurityOptions ?? [];
    const isPodman = parts?.some(({ Name }) => /podman/i.test(Name)) === true;
    return new Engine(docker, {
      name: isPodman ? 'podman' : 'dockerd',
      version: version.Version,
      arch: info.Architecture ?? version.Arch,
      osType: info.OSType ?? version.Os,
      runtimes: Object.keys(info.Runtimes ?? {}),
      hasMemoryLimit: info.MemoryLimit === true,
      hasPidsLimit: info.PidsLimit === true,
      hasCpuQuota: info.CpuCfsQuota === true,
      hasSeccomp: options.some((option) => option.startsWith('name=seccomp')),
      isRootless: options.some((option) => option.startsWith('name=rootless')),
      hasTmpfsOptions: !isPodman,
    });
  }

  async hasImage(name: string): Promise<boolean> {
    try {
      await this.docker.getImage(name).inspect();
      return true;
    } catch (error) {
      if (statusOf(error) === 404) return false;
      throw error;
    }
  }

  /** Loads it where the engine does not have it; once, whoever asks. */
  async ensureImage(image: RuntimeImage): Promise<void> {
    this.#loading ??= this.#load(image).catch((error: unknown) => {
      this.#loading = undefined;
      throw new SandboxError('image_unavailable', `Cannot load the image: ${messageOf(error)}`, {
        cause: error,
        hint: 'npm run engines -- --rebuild',
      });
    });
    await this.#loading;
  }

  async #load(image: RuntimeImage): Promise<void> {
    if (await this.hasImage(image.id)) return;
    const answer = await this.docker.loadImage(image.openArchive());
    const text: string[] = [];
    for await (const chunk of answer) text.push(String(chunk));
    if (!(await this.hasImage(image.id))) throw new Error(text.join('').trim());
  }
}

function makeUnavailable(reason: string): SandboxError {
  return new SandboxError('backend_unavailable', `No container engine answers: ${reason}`, {
    hint: 'Install Docker or Podman and let this user reach its socket (docs/engines.md), or set DOCKER_HOST',
  });
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer in ${ms} ms`)), ms);
  });
  return await Promise.race([work, late]).finally(() => clearTimeout(timer));
}
