import { copyFileSync } from 'node:fs';
import { join } from 'node:path';

import { writeTree } from './workload.ts';

const STAND_IN = join(import.meta.dirname, '../fixtures/model-stand-in.mjs');

/** What the model has the agent do. */
const PLAN = [
  { shell: 'ls && cat README.md && mkdir src' },
  { file: 'src/answer.js', text: 'export const answer = 42;\n' },
  {
    shell: 'node -e "import(\'./src/answer.js\').then((m) => console.log(m.answer))" > result.txt',
  },
  { shell: 'sed -i s/TODO/done/ README.md && rm obsolete.txt && git init -q sub' },
  { say: 'Everything is done.' },
];

/** Starts the stand-in, then the agent with the port of it, and ends with the exit code of the agent. */
const SESSION = `import { spawn } from 'node:child_process';
import { once } from 'node:events';
const model = spawn(process.execPath, ['.agent/model.mjs', '.agent/plan.json'], { stdio: ['ignore', 'pipe', 'inherit'] });
const port = String(await once(model.stdout, 'data')).trim();
const agent = spawn('/bin/sh', ['.agent/start.sh', port], { stdio: ['ignore', 'inherit', 'inherit'] });
const [code] = await once(agent, 'exit');
model.kill();
await once(model, 'exit');
process.exitCode = code ?? 1;
`;

/** Fills a project for an agent; `start` is a shell script that is given the port of the model. */
export function prepareSession(dir: string, start: string): void {
  writeTree(dir, {
    'README.md': '# Project\n\nTODO\n',
    'obsolete.txt': 'not needed\n',
    'package.json': '{"type":"module"}\n',
    '.agent/plan.json': JSON.stringify(PLAN),
    '.agent/session.mjs': SESSION,
    '.agent/start.sh': start,
  });
  copyFileSync(STAND_IN, join(dir, '.agent/model.mjs'));
}

export const SESSION_COMMAND = ['node', '.agent/session.mjs'];
