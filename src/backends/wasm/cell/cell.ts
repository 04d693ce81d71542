import { readFileSync } from 'node:fs';
import { PIECE_BYTES } from '../frames.ts';
import type { CellConfig, FileRequest, Program, RunRequest } from '../protocol.ts';
import { FileError } from './errno.ts';
import type { DirectoryNode, FileNode } from './file-node.ts';
import { FileTree, type LookOptions } from './file-tree.ts';
import { START_DIRECTORY, START_FILE } from './python.ts';
import { Run, type RunInput } from './run.ts';
import { capMemory } from './wasm-module.ts';

const WORKSPACE = 'workspace';
/** Names at a time, so that no message is ever too long. */
const MAX_LISTED = 128;

/** Imports what is named and says what came with it. */
const NAME_MODULES = `import sys
for name in sys.argv[1:]:
    try:
        __import__(name)
    except ImportError:
        pass
print(*{name.partition('.')[0] for name in sys.modules})
`;
const CLOSURE_LIMITS = {
  wallMs: 30_000,
  cpuMs: undefined,
  memoryBytes: 256 << 20,
  outputBytes: 1 << 20,
  openFiles: 64,
};

interface Listed {
  readonly path: string;
  readonly kind: 'file' | 'directory' | 'link';
  readonly sizeBytes: number;
}

/** One sandbox: its files, and its programs one after the other or side by side. */
export class Cell {
  private readonly config: CellConfig;
  /** This file itself, which a worker starts with. */
  private readonly program: string;
  private readonly tree: FileTree;
  private readonly workspace: DirectoryNode;
  /** Where code is put that programs cannot change. */
  private readonly code: DirectoryNode;
  private readonly guest: string;
  private compiled: { key: string; module: Promise<WebAssembly.Module> } | undefined;
  private pythonModules: Promise<readonly string[]> | undefined;

  constructor(config: CellConfig, program: string) {
    this.config = config;
    this.program = program;
    this.guest = readFileSync(config.guest, 'utf8');
    this.tree = new FileTree(config);
    this.workspace = this.tree.makeDirectory(`/${WORKSPACE}`, 'outside');
    this.tree.makeDirectory('/tmp', 'outside');
    for (const path of ['/lib', START_DIRECTORY, '/run', '/run/code'])
      this.tree.makeDirectory(path, 'outside').isReadOnly = true;
    this.code = this.tree.directory('/run/code');
    const start = this.tree.makeFile(`${START_DIRECTORY}/sitecustomize.py`, 'outside');
    this.tree.write(start, Buffer.from(START_FILE), 0, 'outside');
    this.tree.root.isReadOnly = true;
    // What is ours is not counted.
    this.tree.space.usedBytes = 0;
    this.tree.space.usedInodes = 0;
    this.workspace.isReadOnly = config.isWorkspaceReadOnly;
  }

  /** Compiled once, as long as the same is asked for. */
  private compile(program: Program, memoryBytes: number): Promise<WebAssembly.Module> {
    const key = `${program} ${memoryBytes}`;
    if (this.compiled?.key === key) return this.compiled.module;
    const path = this.config.engines[program];
    if (path === undefined) throw new Error(`There is no engine for ${program}`);
    const { bytes } = capMemory(readFileSync(path), memoryBytes);
    const module = WebAssembly.compile(bytes);
    this.compiled = { key, module };
    return module;
  }

  /** The modules that are named, and those that they import themselves: found out by importing them, once. */
  private async findPythonModules(names: readonly string[]): Promise<readonly string[]> {
    const request: RunRequest = {
      program: 'python',
      argv: ['python3', '-c', NAME_MODULES, ...names],
      env: [],
      cwd: '/',
      limits: CLOSURE_LIMITS,
    };
    const chunks: Uint8Array[] = [];
    const run = new Run({
      request,
      module: await this.compile('python', CLOSURE_LIMITS.memoryBytes),
      modules: undefined,
      canEval: true,
      guest: '',
      program: this.program,
      tree: new FileTree({ diskBytes: 1, inodes: 1 }),
      onOutput: (stream, data, taken) => {
        if (stream === 'stdout') chunks.push(data);
        taken();
      },
    });
    run.addStdin(new Uint8Array(0));
    const { outcome } = await run.ended;
    if (outcome.kind !== 'exited' || outcome.exitCode !== 0)
      throw new Error('The modules that were named cannot be found out about');
    return Buffer.concat(chunks).toString().trim().split(' ');
  }

  private async modulesFor(program: Program): Promise<readonly string[] | undefined> {
    const { modules } = this.config;
    if (!modules || program === 'javascript') return modules;
    this.pythonModules ??= this.findPythonModules(modules.filter((name) => /^\w+$/.test(name)));
    return await this.pythonModules;
  }

  async start(request: RunRequest, onOutput: RunInput['onOutput']): Promise<Run> {
    const modules = await this.modulesFor(request.program);
    return new Run({
      request,
      module: await this.compile(request.program, request.limits.memoryBytes),
      modules,
      canEval: this.config.canEval,
      guest: this.guest,
      program: this.program,
      tree: this.tree,
      onOutput,
    });
  }

  private file(path: string): FileNode {
    const node = this.tree.look(path, this.below());
    if (node.kind !== 'file') throw new FileError('ISDIR');
    return node;
  }

  private below(): LookOptions {
    return { from: this.workspace, within: this.workspace };
  }

  /** What whoever holds the sandbox does with its files: below the workspace only. */
  answer(request: FileRequest, bytes: Uint8Array): { value?: unknown; bytes?: Uint8Array } {
    const { tree } = this;
    switch (request.op) {
      case 'read': {
        const maxBytes = Math.min(request.maxBytes, PIECE_BYTES);
        return { bytes: tree.read(this.file(request.path), request.at, maxBytes) };
      }
      case 'write':
      case 'code': {
        const from = request.op === 'code' ? { from: this.code, within: this.code } : this.below();
        const file = tree.makeFile(request.path, 'outside', from);
        if (request.isFirst) tree.resize(file, 0, 'outside');
        const written = tree.write(file, bytes, file.sizeBytes, 'outside');
        if (written < bytes.length) throw new FileError('NOSPC');
        return {};
      }
      case 'mkdir':
        this.makeDirectories(request.path);
        return {};
      case 'link':
        tree.makeLink(request.path, request.to, 'outside', this.below());
        return {};
      case 'readdir': {
        const { entries } = tree.directory(request.path, this.below());
        const names = Array.from(
          entries,
          ([name, { kind }]) => `${name}${kind === 'directory' ? '/' : ''}`,
        );
        return { value: names.slice(request.from, request.from + MAX_LISTED) };
      }
      case 'stat':
        return { value: tree.stat(request.path, this.below()) };
      case 'rm':
        this.remove(request.path);
        return {};
      case 'rename':
        tree.rename(request.path, request.to, 'outside', [this.below(), this.below()]);
        return {};
      case 'list':
        return {
          value: this.list(this.workspace, '').slice(request.from, request.from + MAX_LISTED),
        };
    }
  }

  private makeDirectories(path: string): void {
    const parts = path.split('/').filter(Boolean);
    for (let count = 1; count <= parts.length; count += 1)
      try {
        this.tree.makeDirectory(parts.slice(0, count).join('/'), 'outside', this.below());
      } catch (error) {
        if (!(error instanceof FileError) || error.errno !== 'EXIST') throw error;
      }
    this.tree.directory(path, this.below());
  }

  private remove(path: string): void {
    const node = this.tree.look(path, { ...this.below(), isFollowed: false });
    if (node.kind !== 'directory') return this.tree.remove(path, 'file', 'outside', this.below());
    for (const name of Array.from(node.entries.keys())) this.remove(`${path}/${name}`);
    this.tree.remove(path, 'directory', 'outside', this.below());
  }

  private list(directory: DirectoryNode, prefix: string): Listed[] {
    return Array.from(directory.entries).flatMap(([name, node]): Listed[] => {
      const path = `${prefix}${name}`;
      const sizeBytes = node.kind === 'file' ? node.sizeBytes : 0;
      const own = { path, kind: node.kind, sizeBytes };
      return node.kind === 'directory' ? [own, ...this.list(node, `${path}/`)] : [own];
    });
  }
}
