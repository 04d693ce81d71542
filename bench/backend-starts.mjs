// One process that starts sandboxes and other programs in turns and says how long each took, a line of JSON for each. Run
// by bench/backends.mjs: node backend-starts.mjs '{"rounds":20,"holdMiB":0,"backends":["local"],"others":[…]}'
import { spawn } from 'node:child_process';
import { createSandbox } from '../dist/index.mjs';

const { rounds, holdMiB, backends, others } = JSON.parse(process.argv[2]);
// Touched, so that it is really there: what a fork has to copy is the tables for it.
const held = Buffer.alloc(holdMiB * 1024 * 1024, 1);
const WARM_UP = 3;

const say = (name, ms) => console.log(JSON.stringify({ name, ms }));

async function runProgram(argv) {
  const [program, ...args] = argv;
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.resume();
  child.stderr.resume();
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject).once('close', resolve);
  });
  if (code !== 0) throw new Error(`${argv.join(' ')} ended with ${code}`);
}

/** In a language where nothing else runs: the shortest program that there is. */
async function placeProgram(sandbox, { argv, code }) {
  if (code === undefined) return argv;
  await sandbox.fs.writeFile('empty.mjs', code);
  return argv;
}

async function runCold(backend) {
  const sandbox = await createSandbox({ backend: backend.id });
  try {
    const { isOk, stderr } = await sandbox.exec(await placeProgram(sandbox, backend));
    if (!isOk) throw new Error(`${backend.id}: ${Buffer.from(stderr).toString()}`);
  } finally {
    await sandbox[Symbol.asyncDispose]();
  }
}

async function time(name, round, action) {
  const startedAt = performance.now();
  await action();
  if (round >= WARM_UP) say(name, performance.now() - startedAt);
}

const ready = new Map();
for (const backend of backends) {
  const sandbox = await createSandbox({ backend: backend.id });
  ready.set(backend.id, { sandbox, argv: await placeProgram(sandbox, backend) });
}
for (let round = 0; round < rounds + WARM_UP; round++) {
  for (const { name, argv } of others) await time(name, round, () => runProgram(argv));
  for (const backend of backends) {
    await time(`${backend.id}-cold`, round, () => runCold(backend));
    const { sandbox, argv } = ready.get(backend.id);
    await time(`${backend.id}-warm`, round, () => sandbox.exec(argv));
  }
}
for (const { sandbox } of ready.values()) await sandbox[Symbol.asyncDispose]();
if (held.length !== holdMiB * 1024 * 1024) throw new Error('what was held is gone');
