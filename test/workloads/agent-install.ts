import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';

import { MODULES, writeTree } from './workload.ts';

interface AgentPackage {
  readonly name: string;
  readonly version: string;
  /** Run with node once it is there: npm is told to run no scripts. */
  readonly setUp?: string | undefined;
}

/** Where an agent lies once it is installed: kept for later runs, gone with node_modules. */
export function locateAgent({ name, version }: AgentPackage): string {
  return join(MODULES, '.cache/agents', `${name.replace(/.*\//, '')}-${version}`);
}

/** Installs an agent from the registry, the first time. The reason, when it cannot be had. */
export function installAgent(agent: AgentPackage): string | undefined {
  const place = locateAgent(agent);
  if (fs.existsSync(place)) return undefined;
  const partial = `${place}.${process.pid}`;
  try {
    writeTree(partial, { 'package.json': '{"private":true}' });
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    const retries = ['--fetch-retries=1', '--fetch-timeout=60000'];
    const wanted = `${agent.name}@${agent.version}`;
    run('npm', ['install', ...flags, ...retries, '--prefix', partial, wanted], partial);
    const root = join(partial, 'node_modules', agent.name);
    if (agent.setUp !== undefined) run(process.execPath, [agent.setUp], root);
    fs.renameSync(partial, place);
    return undefined;
  } catch (error) {
    // Another test may have been faster.
    if (fs.existsSync(place)) return undefined;
    return `${agent.name} could not be installed: ${(error as Error).message}`;
  } finally {
    fs.rmSync(partial, { recursive: true, force: true });
  }
}

function run(program: string, args: readonly string[], cwd: string): void {
  const { status, stderr, error } = spawnSync(program, args, { cwd, encoding: 'utf8' });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(stderr.trim().split('\n')[0] ?? `exit ${status}`);
}
