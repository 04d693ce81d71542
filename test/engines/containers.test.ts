import { execFileSync, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';

import Docker from 'dockerode';
import { format } from 'prettier';
import { beforeAll, describe, expect, inject, it } from 'vitest';

import { findRuntimeImage } from '../../src/backends/docker/runtime-image.ts';

const ROOT = join(import.meta.dirname, '../..');
const PAGE = join(ROOT, 'docs/hosts.md');
const PROFILES = join(ROOT, 'test/fixtures/seccomp');
/** Where it is in a container. */
const PROJECT = '/opt/assay';
const COMMAND = [
  'node',
  `${PROJECT}/test/fixtures/ten-programs.mjs`,
  `${PROJECT}/bin/assay.js`,
  '/home/agent',
];
const ORDINARY = 54_321;

interface Setting {
  readonly name: string;
  readonly engine?: 'podman';
  readonly user: 'root' | 'user';
  readonly profile?: 'docker-20.10' | 'moby' | 'containerd' | 'podman';
  readonly capabilities?: readonly string[];
  readonly isRootReadOnly?: boolean;
}

const WHO = ['root', 'user'] as const;
const SETTINGS: readonly Setting[] = [
  ...WHO.map((user) => ({ name: 'the default of this engine (Docker 20.10)', user })),
  ...WHO.map((user) => ({
    name: 'the same, its root file system read-only',
    user,
    isRootReadOnly: true,
  })),
  ...(['docker-20.10', 'moby', 'containerd', 'podman'] as const).flatMap((profile) =>
    WHO.map((user) => ({ name: `the profile \`${profile}\``, user, profile })),
  ),
  ...WHO.map((user) => ({
    name: 'the profile `moby` with `--cap-add SYS_PTRACE`',
    user,
    profile: 'moby' as const,
    capabilities: ['SYS_PTRACE'],
  })),
  { name: 'Podman without root', user: 'user', engine: 'podman' },
];

/** Its defaults are for hosts where root may do everything; these hold where it may not. */
const CONF = `[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
runtime = "runc"
`;

interface Layer {
  readonly layer: string;
  readonly status: string;
}

/** What test/fixtures/ten-programs.mjs prints. */
interface Found {
  readonly layers: readonly Layer[];
  readonly status: string;
  readonly programs: Readonly<Record<string, string>>;
  readonly gaps: readonly string[];
  readonly runId: string;
}

const GOOD: ReadonlySet<string> = new Set(['works', 'held']);
/** What is said instead, before anything runs, where one of these namespaces is lost. */
const INSTEAD: Readonly<
  Record<string, { readonly said: string; readonly needs: readonly string[] }>
> = {
  'serve on loopback': { said: 'no network', needs: ['net'] },
  'exec --lang python': { said: 'refused', needs: ['user', 'mount', 'pid', 'ipc', 'net'] },
};

function isAsSaid([name, result]: readonly [string, string], lost: readonly string[]): boolean {
  const instead = INSTEAD[name];
  const isLost = instead?.needs.some((layer) => lost.includes(layer)) === true;
  return isLost ? result === instead?.said : GOOD.has(result);
}

/** The image has no git; that of this machine is put there, with what it is linked to and the image need not have. */
function findGit(): string[] {
  const git = '/usr/bin/git';
  const linked = execFileSync('ldd', [git], { encoding: 'utf8' });
  const libraries = Array.from(
    linked.matchAll(/=> (\/\S+\/lib(?:pcre|z)\S*)/g),
    ([, path]) => path,
  );
  return [git, ...libraries.filter((path) => path !== undefined)];
}

function whyNot(): string | undefined {
  if (inject('dockerSocket') === '') return inject('dockerProblem');
  if (!findRuntimeImage()) return 'the image was not made; npm run engines makes it';
  return fs.existsSync('/usr/bin/git') ? undefined : 'git is not installed';
}

/** What the container takes away: this machine may lack something by itself. */
function listLost({ layers }: Found, here: readonly Layer[]): string[] {
  const isHere = ({ layer, status }: Layer): boolean =>
    here.some((own) => own.layer === layer && own.status === status);
  return layers
    .filter((found) => found.status !== 'enforced' && !isHere(found))
    .filter(({ layer }) => layer !== 'cgroup') // there may be one to use, or not: it bounds nothing but limits
    .map(({ layer, status }) => (status === 'absent' ? layer : `${layer} ${status}`));
}

function describeResult({ programs, gaps }: Found): string[] {
  const count = Object.values(programs).filter((result) => GOOD.has(result)).length;
  const others = Object.entries(programs).filter(([, result]) => !GOOD.has(result));
  return [
    String(count),
    others.map(([name, result]) => `${name}: ${result}`).join('; ') || '–',
    gaps.join('; ') || 'complete',
  ];
}

/** With files of its own, all of which go with it, and so does the process that Podman leaves to hold its namespace. */
function runInPodman(rootfs: string): string {
  const base = fs.mkdtempSync('/var/tmp/assay-podman-');
  const at = (name: string): string => join(base, name);
  const asUser = { uid: ORDINARY, gid: ORDINARY, cwd: base, encoding: 'utf8' } as const;
  try {
    fs.writeFileSync(at('containers.conf'), CONF);
    fs.chownSync(base, ORDINARY, ORDINARY);
    for (const name of ['home', 'run', 'image']) {
      fs.mkdirSync(at(name));
      fs.chownSync(at(name), ORDINARY, ORDINARY);
    }
    const tar = ['-xf', '-', '-C', at('image'), '--exclude=./dev/*', '--no-same-owner'];
    const input = fs.openSync(rootfs, 'r');
    const extracted = spawnSync('tar', tar, { ...asUser, stdio: [input, 'ignore', 'pipe'] });
    fs.closeSync(input);
    expect(extracted.stderr).toBe('');
    const own = ['--root', at('home/root'), '--runroot', at('run'), '--storage-driver', 'vfs'];
    const binds = [
      `${ROOT}:${PROJECT}`,
      ...findGit().map((path) => `${fs.realpathSync(path)}:${path}`),
    ];
    const words = [
      ...own,
      'run',
      '--rm',
      '--network',
      'none',
      '--tmpfs',
      '/home:rw,exec,mode=1777',
    ];
    words.push(
      ...binds.flatMap((bind) => ['-v', `${bind}:ro`]),
      '--rootfs',
      at('image'),
      ...COMMAND,
    );
    const env = {
      PATH: '/usr/bin:/bin:/usr/sbin:/sbin',
      HOME: at('home'),
      XDG_RUNTIME_DIR: at('run'),
      CONTAINERS_CONF: at('containers.conf'),
    };
    const { status, stdout, stderr } = spawnSync('podman', words, { ...asUser, env });
    expect(status, stderr).toBe(0);
    return stdout;
  } finally {
    const pause = at('run/libpod/tmp/pause.pid');
    if (fs.existsSync(pause)) process.kill(Number(fs.readFileSync(pause, 'latin1')), 'SIGKILL');
    fs.rmSync(base, { recursive: true, force: true });
  }
}

function whyNotPodman(): string | undefined {
  if (spawnSync('podman', ['--version']).status !== 0) return 'podman is not installed';
  const read = spawnSync('test', ['-r', import.meta.filename], { uid: ORDINARY, gid: ORDINARY });
  return read.status === 0 ? undefined : 'the project lies where an ordinary user cannot read it';
}

/** Compares what is between two comments of the page, or writes it where ASSAY_WRITE_PAGES is set. */
async function keepSection(name: string, rows: readonly (readonly string[])[]): Promise<void> {
  const [start, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const page = fs.readFileSync(PAGE, 'utf8');
  const from = page.indexOf(start) + start.length;
  const table = rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
  const made = await format(
    `${page.slice(0, from)}\n\n${table}\n\n${page.slice(page.indexOf(end))}`,
    { parser: 'markdown', printWidth: 100, singleQuote: true },
  );
  if (process.env['ASSAY_WRITE_PAGES'] === undefined) expect(page).toBe(made);
  else fs.writeFileSync(PAGE, made);
}

describe('assay inside a container', () => {
  const problem = whyNot();
  const found = new Map<Setting, Found>();
  const docker = new Docker({ socketPath: inject('dockerSocket') });
  let image = '';
  let here: readonly Layer[] = [];

  beforeAll(async () => {
    const runtime = findRuntimeImage();
    if (problem !== undefined || !runtime) return;
    image = runtime.tag;
    await text(await docker.loadImage(runtime.openArchive()));
    const doctor = spawnSync(process.execPath, [join(ROOT, 'bin/assay.js'), 'doctor', '--json']);
    here = (JSON.parse(String(doctor.stdout)) as Found).layers;
  }, 120_000);

  async function runIn(setting: Setting): Promise<string> {
    const { user, profile, capabilities = [], isRootReadOnly = false } = setting;
    const owner = user === 'root' ? 0 : ORDINARY;
    const security =
      profile && JSON.parse(fs.readFileSync(join(PROFILES, `${profile}.json`), 'utf8'));
    const container = await docker.createContainer({
      Image: image,
      Entrypoint: COMMAND.slice(0, 1),
      Cmd: COMMAND.slice(1),
      User: `${owner}:${owner}`,
      WorkingDir: '/home',
      HostConfig: {
        NetworkMode: 'none',
        ReadonlyRootfs: isRootReadOnly,
        CapAdd: [...capabilities],
        Tmpfs: {
          '/home': `exec,uid=${owner},gid=${owner}`,
          ...(isRootReadOnly && { '/tmp': 'mode=1777,exec' }),
        },
        Binds: [
          `${ROOT}:${PROJECT}:ro`,
          ...findGit().map((path) => `${fs.realpathSync(path)}:${path}:ro`),
        ],
        ...(security && { SecurityOpt: [`seccomp=${JSON.stringify(security)}`] }),
      },
    });
    try {
      const stream = await container.attach({ stream: true, stdout: true, stderr: true });
      const [out, err] = [new PassThrough(), new PassThrough()];
      docker.modem.demuxStream(stream, out, err);
      stream.on('end', () => [out, err].map((one) => one.end()));
      const printed = Promise.all([text(out), text(err)]);
      await container.start();
      await container.wait();
      const [stdout, stderr] = await printed;
      expect(stderr).toBe('');
      return stdout;
    } finally {
      await container.remove({ force: true });
    }
  }

  it.for(SETTINGS.map((setting) => ({ ...setting, setting })))(
    'runs the ten programs, as $user by $name',
    { timeout: 120_000 },
    async ({ setting }, { skip }) => {
      if (problem !== undefined) skip(problem);
      const isPodman = setting.engine === 'podman';
      const reason = isPodman ? whyNotPodman() : undefined;
      if (reason !== undefined) skip(reason);
      const rootfs = findRuntimeImage()?.rootfs ?? '';
      const printed = isPodman ? runInPodman(rootfs) : await runIn(setting);
      const result = JSON.parse(printed) as Found;
      found.set(setting, result);
      const lost = listLost(result, here);
      const programs = Object.entries(result.programs);
      expect(programs.filter((program) => !isAsSaid(program, lost))).toEqual([]);
      expect(result.status).not.toBe('none');
      expect(result.layers).not.toContainEqual(
        expect.objectContaining({ layer: 'broker', status: 'absent' }),
      );
    },
  );

  it('has one run id, whatever is refused to the broker, where the same layers are left', ({
    skip,
  }) => {
    if (problem !== undefined) skip(problem);
    const ids = new Map<string, Set<string>>();
    for (const [{ user, engine = 'docker' }, result] of found) {
      const key = [
        engine,
        user,
        ...listLost(result, here).filter((one) => one !== 'broker partial'),
      ].join();
      ids.set(key, (ids.get(key) ?? new Set()).add(result.runId));
    }
    expect([...ids.values()].filter(({ size }) => size !== 1)).toEqual([]);
  });

  it('is described by docs/hosts.md', async ({ skip }) => {
    if (problem !== undefined) skip(problem);
    if (found.size < SETTINGS.length) skip('not every container could be tried');
    await keepSection('containers', [
      ['Container', 'As', 'Layers lost', 'Of ten', 'The others', 'Record'],
      ['---', '---', '---', '---', '---', '---'],
      ...[...found].map(([{ name, user }, result]) => [
        name,
        user,
        listLost(result, here).join(', ') || '–',
        ...describeResult(result),
      ]),
    ]);
  });
});
