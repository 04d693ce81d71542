import type { Workload } from '../workload.ts';
import { claudeCodeWorkload } from './claude-code.ts';
import { codexWorkload } from './codex.ts';
import { gitWorkload } from './git.ts';
import { makeWorkload } from './make.ts';
import { mcpWorkload } from './mcp.ts';
import { nodeWorkload } from './node.ts';
import { npmWorkload } from './npm.ts';
import { pipWorkload } from './pip.ts';
import { processesWorkload } from './processes.ts';
import { pythonPoolWorkload } from './python-pool.ts';
import { shellJobsWorkload } from './shell-jobs.ts';
import { sqliteWorkload } from './sqlite.ts';
import { tarWorkload } from './tar.ts';
import { tscWorkload } from './tsc.ts';
import { vitestWorkload } from './vitest.ts';

const WORKLOADS: readonly Workload[] = [
  gitWorkload,
  npmWorkload,
  tscWorkload,
  vitestWorkload,
  pipWorkload,
  makeWorkload,
  sqliteWorkload,
  tarWorkload,
  processesWorkload,
  shellJobsWorkload,
  pythonPoolWorkload,
  nodeWorkload,
  mcpWorkload,
  claudeCodeWorkload,
  codexWorkload,
];

/** With their names in front, for tables of tests. */
export const NAMED = WORKLOADS.map((workload) => [workload.name, workload] as const);
