import { execFileSync, fork, spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import readline from 'node:readline';
import { pipeline } from 'node:stream/promises';
import { once } from 'node:events';
import { Worker, isMainThread, parentPort } from 'node:worker_threads';
import zlib from 'node:zlib';

const self = new URL(import.meta.url).pathname;
const attempt = (name, body) => {
  try {
    console.log(name, JSON.stringify(body()) ?? 'ok');
  } catch (error) {
    console.log(name, error.code ?? error.message, error.syscall ?? '', error.errno ?? '');
  }
};
const attemptLater = async (name, body) => {
  try {
    console.log(name, JSON.stringify(await body()) ?? 'ok');
  } catch (error) {
    console.log(name, error.code ?? error.message, error.syscall ?? '', error.errno ?? '');
  }
};
const kind = (p) => {
  const s = fs.lstatSync(p);
  return [s.mode.toString(8), s.nlink, s.isDirectory() ? 0 : s.size];
};

function files() {
  attempt('write', () => fs.writeFileSync('a', 'alpha', { mode: 0o640 }));
  attempt('append', () => fs.appendFileSync('a', ' beta'));
  attempt('read', () => fs.readFileSync('a', 'utf8'));
  attempt('read missing', () => fs.readFileSync('missing'));
  attempt('read dir', () => fs.readFileSync('.'));
  attempt('write dir', () => fs.writeFileSync('.', 'x'));
  attempt('wx', () => fs.writeFileSync('a', 'x', { flag: 'wx' }));
  attempt('ax', () => fs.writeFileSync('a', 'x', { flag: 'ax' }));
  attempt('r+', () => {
    const fd = fs.openSync('a', 'r+');
    fs.writeSync(fd, 'ALPHA', 0);
    fs.writevSync(fd, [Buffer.from('1'), Buffer.from('2')], 5);
    fs.fsyncSync(fd);
    fs.fdatasyncSync(fd);
    fs.ftruncateSync(fd, 8);
    fs.fchmodSync(fd, 0o600);
    fs.futimesSync(fd, 1, 2);
    fs.fchownSync(fd, process.getuid(), process.getgid());
    const out = Buffer.alloc(8);
    fs.readSync(fd, out, 0, 8, 0);
    fs.readvSync(fd, [Buffer.alloc(2)], 0);
    const { mtimeMs } = fs.fstatSync(fd);
    fs.closeSync(fd);
    return [out.toString(), mtimeMs];
  });
  attempt('mkdir', () => fs.mkdirSync('d/e/f', { recursive: true }));
  attempt('mkdir again', () => fs.mkdirSync('d/e/f', { recursive: true }));
  attempt('mkdir exists', () => fs.mkdirSync('d'));
  attempt('mkdir in file', () => fs.mkdirSync('a/b/c', { recursive: true }));
  attempt('mkdtemp', () => fs.mkdtempSync('t-').length);
  attempt('mkdtemp in tmp', () => fs.mkdtempSync(path.join(os.tmpdir(), 't-')).length > 5);
  for (const name of fs.readdirSync('.').filter((n) => n.startsWith('t-'))) fs.rmdirSync(name);
  attempt('symlink', () => fs.symlinkSync('../a', 'd/link'));
  attempt('symlink exists', () => fs.symlinkSync('x', 'd/link'));
  attempt('readlink', () => fs.readlinkSync('d/link'));
  attempt('realpath', () => path.basename(fs.realpathSync('d/link')));
  attempt('realpath native', () => path.basename(fs.realpathSync.native('d/link')));
  attempt('link', () => fs.linkSync('a', 'b'));
  attempt('stat', () => kind('b'));
  attempt('lutimes', () => fs.lutimesSync('d/link', 3, 4));
  attempt('utimes', () => fs.utimesSync('b', 100, 200));
  attempt('chmod', () => fs.chmodSync('b', 0o751));
  attempt('chmod missing', () => fs.chmodSync('missing', 0o751));
  attempt('chown', () => fs.chownSync('b', process.getuid(), process.getgid()));
  attempt('lchown', () => fs.lchownSync('d/link', process.getuid(), process.getgid()));
  attempt('access', () => fs.accessSync('b', fs.constants.W_OK));
  attempt('access missing', () => fs.accessSync('missing'));
  attempt('exists', () => [fs.existsSync('a'), fs.existsSync('zzz')]);
  attempt('rename', () => fs.renameSync('b', 'd/e/b'));
  attempt('rename missing', () => fs.renameSync('zzz', 'yyy'));
  attempt('rename over dir', () => fs.renameSync('a', 'd'));
  attempt('copy', () => fs.copyFileSync('a', 'd/copy', fs.constants.COPYFILE_EXCL));
  attempt('copy again', () => fs.copyFileSync('a', 'd/copy', fs.constants.COPYFILE_EXCL));
  attempt('copy clone', () => fs.copyFileSync('a', 'd/copy2', fs.constants.COPYFILE_FICLONE));
  attempt('truncate', () => fs.truncateSync('d/copy', 3));
  attempt('cp', () => fs.cpSync('d', 'd2', { recursive: true, preserveTimestamps: true }));
  attempt('cp into itself', () => fs.cpSync('d', 'd/d3', { recursive: true }));
  attempt('readdir', () => fs.readdirSync('d', { recursive: true }).sort());
  attempt('dirents', () =>
    fs.readdirSync('d', { withFileTypes: true }).map((e) => [e.name, e.isSymbolicLink()]),
  );
  attempt('opendir', () => {
    const dir = fs.opendirSync('d');
    const names = [];
    for (let entry; (entry = dir.readSync());) names.push(entry.name);
    dir.closeSync();
    return names.sort();
  });
  attempt('rm dir', () => fs.rmSync('d2'));
  attempt('rm', () => fs.rmSync('d2', { recursive: true }));
  attempt('rm missing', () => fs.rmSync('d2'));
  attempt('rmdir full', () => fs.rmdirSync('d'));
  attempt('unlink dir', () => fs.unlinkSync('d'));
  attempt('unlink', () => fs.unlinkSync('d/copy2'));
  attempt('statfs', () => fs.statfsSync('.').bsize > 0);
  attempt('umask', () => [process.umask(0o077), process.umask()]);
  attempt('private', () => (fs.writeFileSync('private', ''), kind('private')));
  attempt('umask back', () => process.umask(0o022));
  attempt('chdir', () => (process.chdir('d'), fs.writeFileSync('here', 'x'), process.chdir('..')));
  attempt('flags', () => fs.openSync('a', 'bogus'));
  attempt('nul', () => fs.writeFileSync('a\0b', ''));
  attempt('long', () => fs.writeFileSync('x'.repeat(300), ''));
}

async function promises() {
  const p = fs.promises;
  await attemptLater('many writes', () =>
    Promise.all(Array.from({ length: 200 }, (_, i) => p.writeFile(`m-${i % 50}`, String(i)))).then(
      (l) => l.length,
    ),
  );
  await attemptLater('many renames', () =>
    Promise.all(Array.from({ length: 50 }, (_, i) => p.rename(`m-${i}`, `n-${i}`))).then(
      (l) => l.length,
    ),
  );
  await attemptLater('many removals', () =>
    Promise.all(Array.from({ length: 50 }, (_, i) => p.rm(`n-${i}`))).then((l) => l.length),
  );
  await attemptLater('handle', async () => {
    const handle = await p.open('handle', 'w+', 0o604);
    await handle.writeFile('text');
    await handle.chmod(0o644);
    const { size } = await handle.stat();
    await handle.close();
    return size;
  });
  await attemptLater('stream', async () => {
    await pipeline(
      fs.createReadStream('battery.mjs'),
      zlib.createGzip(),
      fs.createWriteStream('z.gz'),
    );
    await pipeline(fs.createReadStream('z.gz'), zlib.createGunzip(), fs.createWriteStream('z.mjs'));
    const same = fs.readFileSync('z.mjs').equals(fs.readFileSync('battery.mjs'));
    fs.rmSync('z.gz');
    return same;
  });
  await attemptLater('watch', async () => {
    fs.mkdirSync('watched');
    const watcher = fs.watch('watched');
    setTimeout(() => fs.writeFileSync('watched/new', 'x'), 50);
    const [event, name] = await once(watcher, 'change');
    watcher.close();
    return [event, name];
  });
  await attemptLater('readline', async () => {
    const lines = [];
    for await (const line of readline.createInterface({ input: fs.createReadStream('d/here') }))
      lines.push(line);
    return lines;
  });
}

async function processes() {
  attempt('exec', () => execFileSync('cat', { input: 'through cat' }).toString());
  attempt('exec missing', () => execFileSync('no-such-program'));
  attempt('status', () => spawnSync('sh', ['-c', 'echo err >&2; exit 3']).status);
  attempt('signal', () => spawnSync('sh', ['-c', 'kill -TERM $$']).signal);
  attempt('stdio to file', () => {
    const fd = fs.openSync('stdio', 'w');
    const { status } = spawnSync('sh', ['-c', 'echo out; echo err >&2; echo dev >/dev/stdout'], {
      stdio: ['ignore', fd, fd],
    });
    fs.closeSync(fd);
    return [status, fs.readFileSync('stdio', 'utf8')];
  });
  attempt('shell', () => spawnSync('echo $0 $((1+1))', { shell: '/bin/bash' }).stdout.toString());
  attempt('timeout', () => spawnSync('sleep', ['5'], { timeout: 50 }).error?.code);
  await attemptLater('fork', async () => {
    const child = fork(self, ['child']);
    child.send({ n: 20 });
    const [message] = await once(child, 'message');
    const [code] = await once(child, 'exit');
    return [message, code];
  });
  await attemptLater('pipe', async () => {
    const child = spawn('sort', ['-r']);
    child.stdin.end('b\na\nc\n');
    let text = '';
    for await (const chunk of child.stdout) text += chunk;
    return text;
  });
  await attemptLater('extra pipe', async () => {
    const child = spawn('sh', ['-c', 'cat <&3 >&4'], {
      stdio: ['ignore', 'inherit', 'inherit', 'pipe', 'pipe'],
    });
    child.stdio[3].end('on three');
    let text = '';
    for await (const chunk of child.stdio[4]) text += chunk;
    return text;
  });
  await attemptLater('worker', async () => {
    const worker = new Worker(self);
    const [answer] = await once(worker, 'message');
    await worker.terminate();
    return answer;
  });
}

async function sockets() {
  const talk = (where) => async () => {
    const server = net.createServer((c) => c.pipe(c)).listen(where);
    await once(server, 'listening');
    const client = net.connect(server.address().port ?? where);
    client.end('echo');
    let text = '';
    for await (const chunk of client) text += chunk;
    server.close();
    return text;
  };
  await attemptLater('unix in cwd', talk('sock'));
  await attemptLater('unix in tmp', talk(path.join(os.tmpdir(), 'sock')));
  await attemptLater('tcp', talk({ port: 0, host: '127.0.0.1' }).bind(null));
  await attemptLater('unix refused', () => once(net.connect('missing.sock'), 'connect'));
  await attemptLater('http', async () => {
    const server = http
      .createServer((q, s) => s.end(`${q.method} ${q.url}`))
      .listen(0, '127.0.0.1');
    await once(server, 'listening');
    const answer = await fetch(`http://127.0.0.1:${server.address().port}/path`, {
      method: 'POST',
      body: 'x',
    });
    const text = await answer.text();
    server.closeAllConnections();
    server.close();
    return [answer.status, text];
  });
  await attemptLater('http localhost', async () => {
    const server = http.createServer((q, s) => s.end('x'.repeat(100000))).listen(0, 'localhost');
    await once(server, 'listening');
    const length = (await (await fetch(`http://localhost:${server.address().port}/`)).text())
      .length;
    server.closeAllConnections();
    server.close();
    return length;
  });
  await attemptLater('tcp refused', async () => once(net.connect(1, '127.0.0.1'), 'connect'));
}

if (process.argv[2] === 'child') {
  process.once('message', ({ n }) => process.send(n * 2, () => process.exit(5)));
} else if (!isMainThread) {
  fs.writeFileSync('from-worker', 'w');
  parentPort.postMessage(fs.readFileSync('from-worker', 'utf8') + fs.existsSync('a'));
} else {
  files();
  await promises();
  await processes();
  await sockets();
  attempt('user', () => os.userInfo().uid === process.getuid());
  attempt('host', () => [os.cpus().length, os.availableParallelism(), os.hostname(), os.release()]);
  console.log('done');
}
