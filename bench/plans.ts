// Plans for timing the helper alone. Bundled when the benchmark runs, since node cannot load these files as they are.
import { existsSync, readdirSync } from 'node:fs';
import { guessFacts } from '../src/host/guess-facts.ts';
import { encodePlan, toByteText } from '../src/launch/encode-plan.ts';
import { readHostTree } from '../src/launch/host-tree.ts';
import { EXEC, READ } from '../src/plan/grants.ts';
import { planLandlock } from '../src/plan/landlock.ts';
import { ALL_LAYERS, type LayerChoice } from '../src/plan/layers.ts';
import { makePlan } from '../src/plan/make-plan.ts';
import { planNamedNet } from '../src/plan/named-net.ts';
import { type Layer, LAYERS, type LaunchPlan, type MountOp } from '../src/plan/plan.ts';
import { compileFilter } from '../src/plan/seccomp/compile-filter.ts';
import { resolvePolicy } from '../src/policy/combine.ts';

/** Replaced by the timer with its own process number. */
const PARENT_MARK = 0x7a5a5a7a;

const ENVIRONMENT = [['PATH', '/usr/bin:/bin']] as const;

function makeBarePlan(argv: readonly string[]): LaunchPlan {
  const { uid, gid } = guessFacts();
  return {
    flags: { isCapsDropped: true },
    namespaces: [],
    uid,
    gid,
    parentPid: PARENT_MARK,
    argv,
    env: ENVIRONMENT,
    cwd: '/',
    banner: '',
    scopedDir: '/tmp',
    privateTmp: ['/tmp'],
    sharedInTmp: [],
    mounts: [],
    landlock: null,
    filter: null,
    brokerRules: [],
    doorRanges: [],
    maxFiles: 0,
    firstPid: 0,
    rlimits: [],
    cgroups: [],
    softLimits: {},
    timeoutMs: 0,
    graceMs: 0,
  };
}

function makeFilter(): Uint8Array {
  return compileFilter({
    arch: guessFacts().arch,
    notify: null,
    sockets: { inet: 'none', unix: 'none', netlink: true },
    isAttributeChangeRefused: true,
    isLandlockRefused: false,
  });
}

/** Directories that exist, the first ones enough for `true` to start. */
function listDirectories(count: number): string[] {
  const lists = ['/usr/bin', '/usr/lib', '/usr/share'].flatMap((parent) =>
    readdirSync(parent, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => `${parent}/${entry.name}`),
  );
  return ['/usr', '/bin', '/lib', '/lib64', '/etc', '/proc', '/dev', ...lists]
    .filter((path) => existsSync(path))
    .slice(0, count);
}

/** seccomp and Landlock with so many rules; no namespaces, no broker. */
export function encodeRulesPlan(ruleCount: number, argv: readonly string[]): Uint8Array {
  const grants = listDirectories(ruleCount).map((path) => ({ path, rights: READ | EXEC }));
  if (grants.length !== ruleCount) throw new Error(`Cannot find ${ruleCount} directories`);
  const landlock = planLandlock({
    abi: guessFacts().landlockAbi,
    grants,
    system: [],
    listed: [],
    isRestReadOnly: true,
    isNetworkRefused: true,
    isUnixRefused: true,
  });
  return encodePlan(
    {
      ...makeBarePlan(argv),
      flags: { isCapsDropped: true, isGated: true },
      landlock,
    },
    toByteText(makeFilter()),
  );
}

/** What `bwrap --unshare-all --ro-bind / / --dev /dev --proc /proc --tmpfs /tmp` makes: every namespace, and no rules. */
export function encodeNamespacesPlan(argv: readonly string[]): Uint8Array {
  const mounts: MountOp[] = [
    { kind: 'tmpfs', path: '/tmp', sizeBytes: 0, inodes: 0, isShared: false },
    { kind: 'proc', firstPid: 0, pidMax: 0 },
  ];
  return encodePlan(
    {
      ...makeBarePlan(argv),
      flags: { isCapsDropped: true, isRootReadOnly: true },
      namespaces: ['user', 'mount', 'pid', 'ipc', 'net'],
      mounts,
    },
    null,
  );
}

export interface PresetPlanOptions {
  readonly preset?: string | undefined;
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly tmpdir: string;
  /** Shown besides what the preset shows. */
  readonly read?: readonly string[];
  readonly without?: readonly Layer[];
}

/** What `assay sandbox` would hand to the helper. */
export function encodePresetPlan(options: PresetPlanOptions): Uint8Array {
  const { argv, cwd, tmpdir, without = [] } = options;
  const variables = { cwd, home: process.env['HOME'] ?? '/', tmpdir, user: 'bench' };
  const choice: LayerChoice = {
    ...ALL_LAYERS,
    left: new Set(LAYERS.filter((layer) => !without.includes(layer))),
  };
  const policy = resolvePolicy({
    preset: options.preset,
    quick: { allowRead: options.read ?? [] },
    variables,
  });
  const plan = makePlan({
    policy,
    variables,
    host: guessFacts(),
    tree: readHostTree(),
    choice,
    planNet: planNamedNet,
    argv,
    env: ENVIRONMENT,
    parentPid: PARENT_MARK,
    graceMs: 1000,
  });
  const filter = plan.launch.filter && toByteText(compileFilter(plan.launch.filter));
  return encodePlan({ ...plan.launch, banner: '', cgroups: [] }, filter);
}
