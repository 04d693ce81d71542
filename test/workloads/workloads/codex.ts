import { join } from 'node:path';

import { installAgent, locateAgent } from '../agent-install.ts';
import { prepareSession, SESSION_COMMAND } from '../agent-session.ts';
import type { Workload } from '../workload.ts';

const AGENT = { name: '@openai/codex', version: '0.166.0' };
const PROGRAM = join(locateAgent(AGENT), 'node_modules/.bin/codex');

const START = `export HOME="$PWD/.home" CODEX_HOME="$PWD/.home/codex" STAND_IN_KEY=none
mkdir -p "$CODEX_HOME"
cat > "$CODEX_HOME/config.toml" <<END
analytics = { enabled = false }
model = "stand-in"
model_provider = "stand-in"
[model_providers.stand-in]
name = "stand-in"
base_url = "http://127.0.0.1:$1/v1"
wire_api = "responses"
env_key = "STAND_IN_KEY"
[features]
plugins = false
remote_plugin = false
END
exec ${PROGRAM} exec --dangerously-bypass-approvals-and-sandbox --skip-git-repo-check 'Do the task'
`;

export const codexWorkload: Workload = {
  name: 'Codex with a scripted model',
  tools: ['node', 'npm', 'git'],
  hasOwnClock: true,
  // Login shells do other things for root.
  hasLooseStarts: true,
  grants: { exec: [locateAgent(AGENT)] },
  install: () => installAgent(AGENT),
  command: SESSION_COMMAND,
  prepare: (dir) => prepareSession(dir, START),
};
