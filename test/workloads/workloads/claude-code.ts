import { join } from 'node:path';

import { installAgent, locateAgent } from '../agent-install.ts';
import { prepareSession, SESSION_COMMAND } from '../agent-session.ts';
import type { Workload } from '../workload.ts';

const AGENT = { name: '@anthropic-ai/claude-code', version: '2.1.197', setUp: 'install.cjs' };
const PROGRAM = join(locateAgent(AGENT), 'node_modules/.bin/claude');

/**
 * It takes root for a mistake unless it is told that this is a sandbox. Once a day it tidies up, five seconds after it
 * has started, which only a busy machine gives it: so it finds that this was done.
 */
const START = `export HOME="$PWD/.home" SHELL=/bin/bash IS_SANDBOX=1 DISABLE_TELEMETRY=1 DISABLE_AUTOUPDATER=1
export CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 ANTHROPIC_API_KEY=sk-test ANTHROPIC_BASE_URL="http://127.0.0.1:$1"
mkdir -p "$HOME/.claude"
touch -d 2100-01-01 "$HOME/.claude/.last-cleanup"
exec ${PROGRAM} -p 'Do the task' --dangerously-skip-permissions
`;

export const claudeCodeWorkload: Workload = {
  name: 'Claude Code with a scripted model',
  tools: ['node', 'npm', 'git'],
  grants: {
    exec: [locateAgent(AGENT)],
    write: ['${CWD}/.home/.claude', '${CWD}/.home/.claude.json'],
  },
  install: () => installAgent(AGENT),
  command: SESSION_COMMAND,
  prepare: (dir) => prepareSession(dir, START),
};
