// `npm start`: installs and builds what is missing, then shows the main job on a workspace of its own: a program that
// does its work inside, four attempts that are refused, and what is left of the run. `npm start -- sandbox -- CMD` is
// assay itself.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeReady, ROOT, runThrough } from './ready.mjs';

const ASSAY = join(ROOT, 'bin/assay.js');
const DEMO = join(ROOT, 'demo');

const runAssay = (args, options) => runThrough(process.execPath, [ASSAY, ...args], options);

const AGENT = `import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { homedir } from 'node:os';

const attempt = async (what, work) => {
  const end = await work().then(() => 'done', ({ code }) => 'refused (' + code + ')');
  console.log('  ' + what.padEnd(44) + end);
};
const dial = () =>
  new Promise((resolve, reject) => connect(443, '192.0.2.1').once('connect', resolve).once('error', reject));

console.log('A program that could be a coding agent:');
await attempt('reads notes.md', async () => readFileSync('notes.md'));
await attempt('writes summary.md', async () => writeFileSync('summary.md', 'Three notes.\\n'));
await attempt('reads .env', async () => readFileSync('.env'));
await attempt('writes into the home directory', async () => writeFileSync(homedir() + '/planted.txt', 'x'));
await attempt('installs a git hook', async () => writeFileSync('.git/hooks/post-checkout', 'x'));
await attempt('connects to 192.0.2.1:443', dial);
`;

/** A small project with a secret, under a policy that lets an agent work on it. */
function makeProject() {
  rmSync(DEMO, { recursive: true, force: true });
  const work = join(DEMO, 'project');
  for (const folder of ['hooks', 'objects', 'refs'])
    mkdirSync(join(work, '.git', folder), { recursive: true });
  const files = {
    'project/.git/HEAD': 'ref: refs/heads/main\n',
    'project/.git/config': '[core]\n\trepositoryformatversion = 0\n',
    'project/notes.md': '- one\n- two\n- three\n',
    'project/.env': 'API_KEY=not-for-agents\n',
    'project/agent.mjs': AGENT,
    'policy.json': `${JSON.stringify(
      {
        api_version: 'assay/v1',
        extends: ['coding-agent'],
        fs: { read: [dirname(process.execPath)], deny: ['.env*'] },
      },
      null,
      2,
    )}\n`,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(DEMO, name), text);
  return work;
}

async function demonstrate() {
  const work = makeProject();
  const at = (name) => join(DEMO, name);
  // Without what npm adds, which is nobody's own.
  const names = Object.keys(process.env).filter((name) => !/^npm_/i.test(name));
  const env = Object.fromEntries(names.map((name) => [name, process.env[name]]));
  console.log(
    `\n$ assay sandbox --policy policy.json --profile run.profile.yaml --bundle run.bundle.tar.gz -- node agent.mjs\n`,
  );
  const outputs = ['--profile', at('run.profile.yaml'), '--bundle', at('run.bundle.tar.gz')];
  const policy = ['--policy', at('policy.json')];
  const code = await runAssay(
    ['sandbox', ...policy, ...outputs, '--', process.execPath, 'agent.mjs'],
    { cwd: work, env },
  );
  if (code !== 0) return code;
  console.log(`\n${readFileSync(at('run.profile.yaml.report.md'), 'utf8')}`);
  const shown = await runAssay(
    ['evidence', 'view', at('run.bundle.tar.gz'), '--html', at('run.html')],
    { cwd: work, env },
  );
  console.log(`
The same as a page:      ${at('run.html')}
The evidence, sealed:    ${at('run.bundle.tar.gz')}
A policy for such runs:  ${at('run.profile.yaml')}

Next, in a project of your own:
  ${ASSAY} sandbox --preset coding-agent --profile run.profile.yaml -- your-agent
  ${ASSAY} doctor      what this machine can enforce
  README.md and docs/coding-agents.md say the rest.`);
  return shown;
}

makeReady();
const args = process.argv.slice(2);
process.exitCode =
  args.length > 0
    ? await runAssay(args, { cwd: process.env.INIT_CWD ?? ROOT })
    : await demonstrate();
