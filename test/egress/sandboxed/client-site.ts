import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PYTHON } from '../../e2e/run-assay.ts';

const WHEEL = `
import sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w") as wheel:
    info = "thing-1.0.dist-info"
    wheel.writestr("thing.py", "WORD = 'from the wheel'\\n")
    wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\\nName: thing\\nVersion: 1.0\\n")
    wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(f"{info}/RECORD", f"thing.py,,\\n{info}/METADATA,,\\n{info}/WHEEL,,\\n{info}/RECORD,,\\n")
`;

/** What a registry, an index and a git server hand out, made anew: one package for npm, one for pip, one repository. */
export class ClientSite implements Disposable {
  readonly dir = mkdtempSync(join(tmpdir(), 'assay-site-'));

  /** `origin` as the registry itself names it, such as `http://web.example.org`. */
  constructor(origin: string) {
    chmodSync(this.dir, 0o755);
    this.#writePackage(origin);
    this.#write('simple/thing/index.html', '<a href="thing-1.0-py3-none-any.whl">thing</a>\n');
    const wheel = join(this.dir, 'simple/thing/thing-1.0-py3-none-any.whl');
    execFileSync(PYTHON, ['-c', WHEEL, wheel]);
    this.#writeRepository();
  }

  get repository(): string {
    return join(this.dir, 'repo.git');
  }

  [Symbol.dispose](): void {
    rmSync(this.dir, { recursive: true, force: true });
  }

  #write(path: string, text: string): void {
    mkdirSync(dirname(join(this.dir, path)), { recursive: true });
    writeFileSync(join(this.dir, path), text);
  }

  #writePackage(origin: string): void {
    const manifest = { name: 'thing', version: '1.0.0', main: 'index.js' };
    this.#write('source/package/package.json', JSON.stringify(manifest));
    this.#write('source/package/index.js', "module.exports = 'from the package';\n");
    mkdirSync(join(this.dir, 'npm'));
    const tarball = join(this.dir, 'npm/thing-1.0.0.tgz');
    execFileSync('tar', ['-czf', tarball, '-C', join(this.dir, 'source'), 'package']);
    const integrity = `sha512-${createHash('sha512').update(readFileSync(tarball)).digest('base64')}`;
    const dist = { tarball: `${origin}/npm/thing-1.0.0.tgz`, integrity };
    const versions = { '1.0.0': { ...manifest, dist } };
    const text = JSON.stringify({ name: 'thing', 'dist-tags': { latest: '1.0.0' }, versions });
    this.#write('npm/thing', text);
  }

  #writeRepository(): void {
    const env = { PATH: process.env['PATH'], HOME: this.dir, GIT_CONFIG_NOSYSTEM: '1' };
    const git = (...args: string[]): void => {
      execFileSync('git', args, { env, cwd: this.dir, stdio: 'pipe' });
    };
    git('init', '-q', '-b', 'main', 'work');
    this.#write('work/file', 'from the repository\n');
    git('-C', 'work', 'add', '.');
    git(
      '-C',
      'work',
      '-c',
      'user.name=a',
      '-c',
      'user.email=a@example.org',
      'commit',
      '-qm',
      'one',
    );
    git('clone', '-q', '--bare', 'work', 'repo.git');
    git('-C', 'repo.git', 'update-server-info');
  }
}

/** A real sshd with keys of its own, whose only user may fetch one repository. */
export class SshSite implements Disposable {
  readonly dir = mkdtempSync(join(tmpdir(), 'assay-ssh-'));

  constructor({ address, repository }: { address: string; repository: string }) {
    chmodSync(this.dir, 0o755);
    for (const name of ['host', 'user'])
      execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(this.dir, name)]);
    const key = readFileSync(join(this.dir, 'user.pub'), 'utf8');
    const fetch = `git -c safe.directory=* upload-pack ${repository}`;
    writeFileSync(join(this.dir, 'keys'), `restrict,command="${fetch}" ${key}`);
    const config = [
      `ListenAddress ${address}:22`,
      `HostKey ${this.dir}/host`,
      `AuthorizedKeysFile ${this.dir}/keys`,
      `PidFile none`,
      'UsePAM no',
      'StrictModes no',
      'PasswordAuthentication no',
      'PermitRootLogin forced-commands-only',
    ];
    writeFileSync(join(this.dir, 'config'), config.map((line) => `${line}\n`).join(''));
  }

  get service(): string[] {
    return [
      '/usr/sbin/sshd',
      '-D',
      '-e',
      '-f',
      join(this.dir, 'config'),
      '-E',
      join(this.dir, 'log'),
    ];
  }

  get userKey(): Buffer {
    return readFileSync(join(this.dir, 'user'));
  }

  [Symbol.dispose](): void {
    rmSync(this.dir, { recursive: true, force: true });
  }
}
