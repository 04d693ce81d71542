import { randomBytes } from 'node:crypto';
import type { BackendId, Coverage, Surface } from '../backend.ts';
import type { ConnectionFact } from '../../egress/egress.ts';
import type { Sandbox } from '../sandbox.ts';
import type { SandboxLimits, SandboxSpec } from '../spec.ts';
import { DOORS, addProxyVariables } from '../../plan/doors.ts';
import { type Baseline, readTree } from './changes.ts';
import { checkHello, type Expected } from './check-hello.ts';
import { copyIn } from './copy-in.ts';
import { toRules } from '../network-rules.ts';
import { StewardDoor } from './door.ts';
import { RunDirectory } from './run-directory.ts';
import type { MoreLimits } from './steward-call.ts';
import { StewardFiles } from './steward-files.ts';
import type { ChannelUser, StewardLink } from './steward-link.ts';
import { type Container, StewardSandbox } from './steward-sandbox.ts';
import { encodeU32, TO_STEWARD } from './wire.ts';

export interface OpenSandboxInput {
  readonly backend: BackendId;
  readonly spec: SandboxSpec;
  readonly limits: SandboxLimits;
  readonly coverage: Readonly<Record<Surface, Coverage>>;
  readonly expected: Expected;
  /** What programs find in their environment, before what the spec says. */
  readonly env: Readonly<Record<string, string>>;
  /** A directory of the host to copy in. */
  readonly copied?: string | undefined;
  /** Whether the workspace is a directory of the host that is written to. */
  readonly isWatched: boolean;
  readonly guestProcesses?: number | undefined;
  /** For programs, besides what the engine keeps them from. */
  readonly filter?: Uint8Array | undefined;
  readonly start: (options: {
    readonly directory: RunDirectory;
    readonly onDoor: (channel: number, link: StewardLink) => ChannelUser;
  }) => Promise<Container>;
}

const REFUSED: ChannelUser = { take: () => undefined, close: () => undefined };

/** From a plan to a sandbox that is ready; nothing is left when that fails. */
export async function openSandbox(input: OpenSandboxInput): Promise<Sandbox> {
  const { network } = input.spec;
  const rules = network === undefined || network === 'none' ? undefined : toRules(network);
  const directory = new RunDirectory();
  const listeners = new Set<(fact: ConnectionFact) => void>();
  let door: StewardDoor | undefined;
  let container: Container | undefined;
  const close = async (): Promise<void> => {
    try {
      await (container ? container.destroy() : directory.remove());
    } finally {
      await door?.close();
    }
  };
  try {
    if (rules)
      door = await StewardDoor.open({
        directory: directory.path,
        rules,
        onConnection: (fact) => listeners.forEach((listener) => listener(fact)),
      });
    container = await input.start({
      directory,
      onDoor: (channel, link) => door?.accept(channel, link) ?? REFUSED,
    });
    checkHello(await container.link.hello, input.expected);
    const { baseline, more } = await prepare(input, container.link, door !== undefined);
    return new StewardSandbox({
      id: `${input.backend}-${randomBytes(6).toString('hex')}`,
      backend: input.backend,
      spec: input.spec,
      container: wrap(container, close),
      limits: input.limits,
      coverage: input.coverage,
      baseline,
      more,
      env: makeEnvironment(input, door !== undefined),
      drain: async () => await door?.drain(),
      onConnections: (listener) => void listeners.add(listener),
    });
  } catch (error) {
    await close();
    throw error;
  }
}

/** The door goes with the container. */
function wrap(container: Container, close: () => Promise<void>): Container {
  return {
    link: container.link,
    destroy: close,
    findEnd: async () => await container.findEnd(),
    tighten: async (limits) => await container.tighten(limits),
    putCode: async (name, code) => await container.putCode(name, code),
  };
}

function makeEnvironment(
  { env, spec }: OpenSandboxInput,
  hasDoor: boolean,
): Readonly<Record<string, string>> {
  const own = spec.env ?? {};
  const list = Object.entries({ ...env, ...own });
  return Object.fromEntries(hasDoor ? addProxyVariables(list, own) : list);
}

async function prepare(
  { copied, isWatched, limits, filter, guestProcesses }: OpenSandboxInput,
  link: StewardLink,
  hasDoor: boolean,
): Promise<{ baseline: Baseline; more: MoreLimits }> {
  if (filter) await link.ask(TO_STEWARD.filter, filter);
  if (hasDoor) await link.ask(TO_STEWARD.listen, encodeU32(DOORS.proxy.port));
  const digests =
    copied === undefined ? new Map<string, string>() : await copyIn(new StewardFiles(link), copied);
  const tree = await readTree(link);
  if (!isWatched) return { baseline: { tree, digests }, more: { guestProcesses } };
  const size = await link.ask(TO_STEWARD.measure);
  const [bytes, files] = [Number(size.readBigUInt64LE(0)), Number(size.readBigUInt64LE(8))];
  const { diskBytes, inodes } = limits;
  const more = {
    guestProcesses,
    workspaceBytes: diskBytes === undefined ? undefined : bytes + diskBytes,
    workspaceFiles: inodes === undefined ? undefined : files + inodes,
  };
  return { baseline: { tree, digests }, more };
}
