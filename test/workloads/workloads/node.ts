import { type Workload, writeTree } from '../workload.ts';

const PROGRAM = `import { createHash, randomUUID } from 'node:crypto';
import * as fs from 'node:fs';
import { mkdtemp, open, rename, rm, writeFile } from 'node:fs/promises';
import { createServer, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Worker, isMainThread, workerData } from 'node:worker_threads';
import { createGzip } from 'node:zlib';

if (!isMainThread) {
  fs.mkdirSync('shared/made', { recursive: true });
  for (let i = 0; i < 20; i++) fs.writeFileSync('shared/made/' + workerData + '-' + i, 'x');
} else {
  await pipeline(fs.createReadStream('input.txt'), createGzip({ level: 9 }), fs.createWriteStream('input.gz'));
  const dir = await mkdtemp(join(tmpdir(), 'main-'));
  const streams = Array.from({ length: 20 }, (_, i) => fs.createWriteStream(join(dir, 'part-' + i)));
  for (const stream of streams) for (let i = 0; i < 10; i++) stream.write('line ' + i + '\\n');
  await Promise.all(streams.map((s) => new Promise((resolve) => s.end(resolve))));
  const whole = streams.map((s) => fs.readFileSync(s.path)).join('');
  await writeFile('joined.txt.' + process.pid + '.tmp', whole);
  await rename('joined.txt.' + process.pid + '.tmp', 'joined.txt');
  await rm(dir, { recursive: true });
  const id = randomUUID();
  fs.mkdirSync('sessions');
  fs.writeFileSync('sessions/' + id + '.jsonl', JSON.stringify({ id, at: Date.now() }));
  fs.copyFileSync('input.txt', 'backup.' + Date.now());
  const handle = await open('log.txt', 'a');
  await handle.appendFile('more\\n');
  await handle.close();
  fs.writeFileSync('same.txt', fs.readFileSync('same.txt'));
  fs.truncateSync('short.txt', 3);
  fs.symlinkSync('joined.txt', 'latest');
  fs.linkSync('joined.txt', 'twin.txt');
  fs.chmodSync('tool.js', 0o755);
  fs.unlinkSync('old.txt');
  await Promise.all(['a', 'b', 'c'].map((name) => new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: name });
    worker.on('exit', resolve).on('error', reject);
  })));
  const server = createServer((socket) => socket.end('hello'));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  await new Promise((resolve) => connect(server.address().port, '127.0.0.1').resume().on('close', resolve));
  server.close();
  console.log(createHash('sha256').update(whole).digest('hex'));
}
`;

export const nodeWorkload: Workload = {
  name: 'node with streams, temporary files, worker threads and a socket',
  tools: ['node'],
  command: ['node', 'main.mjs'],
  prepare(dir) {
    writeTree(dir, {
      'main.mjs': PROGRAM,
      'input.txt': 'some text\n'.repeat(5000),
      'log.txt': 'one\n',
      'same.txt': 'written again with the very same content\n',
      'short.txt': 'longer than three\n',
      'tool.js': 'console.log(1);\n',
      'old.txt': 'goes away\n',
      'shared/.keep': '',
    });
  },
};
