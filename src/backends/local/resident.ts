import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { describeErrno } from '../../launch/errno.ts';
import { helperPath } from '../../launch/helper-path.ts';
import { scopedTmpPath } from '../../launch/scoped-tmp.ts';
import { DoorChannel } from './door-channel.ts';
import { encodeRootScript, type Ids, listRootSteps } from './root-steps.ts';

interface FirstLine {
  readonly ready?: boolean;
  readonly failed?: string;
  readonly what?: string;
  readonly errno?: number;
}

/** The numbers of native/serve.h. */
const GREETING = { sandbox: 1, forker: 2 } as const;

export interface SandboxGreeting {
  readonly forker?: number | undefined;
  /** The number of the sandbox among those with doors. */
  readonly doors?: number | undefined;
}

/** Why the helper cannot make a tree for sandboxes here. */
export class ResidentFailure extends Error {
  readonly step: string;

  constructor(line: FirstLine) {
    const why = line.errno ? `: ${describeErrno(line.errno)}` : '';
    super(`${line.failed ?? 'the helper'}: ${line.what ?? 'it ended at once'}${why}`);
    this.name = 'ResidentFailure';
    this.step = line.failed ?? '';
  }
}

/**
 * A helper that stays: it is small, so that it forks quickly however much memory this process has, and it holds the tree of
 * files that every sandbox starts from. It ends with this process, and does not keep it from ending.
 */
export class Resident {
  readonly #child: ChildProcess;
  readonly #directory: string;
  readonly #onExit = (): void => this.close();
  readonly doors: DoorChannel;
  isAlive = true;

  private constructor(child: ChildProcess, directory: string) {
    this.#child = child;
    this.#directory = directory;
    this.doors = new DoorChannel(child);
    process.on('exit', this.#onExit);
    child.once('exit', () => {
      this.isAlive = false;
      this.#removeDirectory();
      process.off('exit', this.#onExit);
    });
  }

  static async start(ids: Ids): Promise<Resident> {
    const helper = helperPath();
    const { spawn } = process.getBuiltinModule('node:child_process');
    const directory = `${scopedTmpPath(ids.uid, process.pid)}-${randomBytes(4).toString('hex')}`;
    mkdirSync(directory, { mode: 0o700 });
    const stdio = ['ignore', 'ignore', 'ignore', 'pipe', 'ipc'] as const;
    const child = spawn(helper, ['serve'], { stdio: [...stdio], env: {}, cwd: '/' });
    const resident = new Resident(child, directory);
    try {
      await resident.#greet(encodeRootScript(ids, directory, listRootSteps(ids)));
      return resident;
    } catch (error) {
      resident.close();
      throw error;
    }
  }

  async #greet(script: Buffer): Promise<void> {
    const channel = this.#child.stdio[3] as Duplex & { unref(): void };
    const line = await new Promise<string>((resolve, reject) => {
      let heard = '';
      this.#child.once('error', reject);
      channel.on('error', () => undefined); // it has ended, which the end says
      channel.on('data', (data: Buffer) => {
        heard += data.toString();
        if (heard.includes('\n')) resolve(heard);
      });
      channel.once('end', () => resolve(heard));
      channel.write(script);
    });
    const first = (line === '' ? {} : JSON.parse(line.split('\n')[0] ?? '{}')) as FirstLine;
    if (first.ready !== true) throw new ResidentFailure(first);
    this.#child.unref();
    this.#child.channel?.unref();
    channel.unref();
  }

  /** A connection to a new sandbox of its own, forked by the forker of this number, if any. */
  async connect(options: SandboxGreeting = {}): Promise<Socket> {
    return await this.#open(GREETING.sandbox, options.forker ?? 0, options.doors ?? 0);
  }

  /** A connection to a new forker, whose end is its own, and the number of its process. */
  async startForker(number: number): Promise<{ readonly socket: Socket; readonly pid: number }> {
    const socket = await this.#open(GREETING.forker, number, 0);
    const pid = await new Promise<number>((resolve, reject) => {
      socket.once('data', (data: Buffer) => resolve(data.readInt32LE(0)));
      socket.once('close', () => reject(new Error('the forker could not be started')));
    });
    return { socket, pid };
  }

  async #open(kind: number, forker: number, doors: number): Promise<Socket> {
    const socket = connect(join(this.#directory, 'sandboxes'));
    const greeting = Buffer.alloc(12);
    greeting.writeUInt32LE(kind, 0);
    greeting.writeUInt32LE(forker, 4);
    greeting.writeUInt32LE(doors, 8);
    socket.write(greeting); // sent as soon as it is connected
    return await new Promise((resolve, reject) => {
      socket.once('connect', () => resolve(socket));
      // Stays for good: an error that nobody listens to would end the process. After this, the close says it, too.
      socket.on('error', reject);
    });
  }

  close(): void {
    this.#child.stdio[3]?.destroy();
    this.#child.kill('SIGKILL');
    this.#removeDirectory();
  }

  #removeDirectory(): void {
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
