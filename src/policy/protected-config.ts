/*
 * Configuration protection: names whose content runs, or makes a trusted program run something, later and outside
 * the sandbox without anyone asking for it. They are protected at any depth, also where they do not exist yet,
 * until a rule with write access names them. What runs only when someone asks for it (package.json, a Makefile)
 * is the work itself and is not here; neither is text that only instructs (AGENTS.md).
 */

const GIT = [
  '*.git/hooks', // bare repositories too: `*` also matches nothing
  '.git/modules/**/hooks', // submodules; their names may hold slashes
  '.git/worktrees/*/hooks',
  '.git/commondir', // points git to another directory's config and hooks
  '.gitconfig',
  '.config/git',
];

const GIT_HOOK_MANAGERS = [
  '.husky',
  '.pre-commit-config.yaml',
  '.lefthook',
  'lefthook.yml',
  'lefthook.yaml',
  'lefthook-local.yml',
  '.lefthook.yml',
  '.lefthook.yaml',
  '.overcommit.yml',
];

const SHELLS = [
  '.bashrc',
  '.bash_profile',
  '.bash_login',
  '.bash_logout',
  '.bash_aliases',
  '.profile',
  '.zshrc',
  '.zshenv',
  '.zprofile',
  '.zlogin',
  '.zlogout',
  '.kshrc',
  '.cshrc',
  '.tcshrc',
  '.login',
  '.logout',
  '.config/fish',
  '.inputrc', // binds keys to commands
  '.envrc',
  '.config/direnv',
];

const SESSIONS = [
  '.pam_environment',
  '.xinitrc',
  '.xprofile',
  '.xsession',
  '.xsessionrc',
  '.config/autostart',
  '.config/environment.d',
  '.config/systemd',
];

const PACKAGE_MANAGERS = [
  '.npmrc', // script-shell, registry
  '.yarnrc',
  '.yarnrc.yml', // yarnPath
  '.yarn/releases', // what yarnPath runs
  '.yarn/plugins',
  '.pnpmfile.cjs',
  '.cargo/config', // rustc-wrapper
  '.cargo/config.toml',
];

const EDITORS = [
  '.vscode',
  '*.code-workspace',
  '.idea',
  '.zed',
  '.fleet',
  '.helix',
  '.vim',
  '.vimrc',
  '.exrc',
  '.nvimrc',
  '.nvim.lua',
  '.config/nvim',
  '.emacs',
  '.emacs.d',
  '.dir-locals.el',
  '.tmux.conf',
  '.gdbinit',
  '.lldbinit',
  '.devcontainer',
  '.devcontainer.json',
];

const AGENTS = [
  '.mcp.json',
  '.claude', // hooks and permissions
  '.claude.json',
  '.cursor',
  '.codex',
  '.gemini',
  '.qwen',
  '.opencode',
  'opencode.json',
  '.aider.conf.yml',
  '.continue',
  '.windsurf',
  '.roo',
  '.kiro',
  '.amazonq',
];

const CI = [
  '.github/workflows',
  '.github/actions',
  '.gitea/workflows',
  '.forgejo/workflows',
  '.gitlab-ci.yml',
  '.circleci',
  '.cirrus.yml',
  '.travis.yml',
  '.appveyor.yml',
  'appveyor.yml',
  'azure-pipelines.yml',
  'bitbucket-pipelines.yml',
  '.buildkite',
  '.drone.yml',
  '.woodpecker',
  '.woodpecker.yml',
  '.semaphore',
  '.tekton',
  'Jenkinsfile',
];

/** Each of these can name a program that a client runs to log in. */
const CREDENTIALS = ['.ssh', '.gnupg', '.aws', '.kube/config', '.docker/config.json', '.config/gh'];

const OWN = ['assay.yaml', '.assay'];

export const PROTECTED_CONFIG: readonly string[] = [
  ...GIT,
  ...GIT_HOOK_MANAGERS,
  ...SHELLS,
  ...SESSIONS,
  ...PACKAGE_MANAGERS,
  ...EDITORS,
  ...AGENTS,
  ...CI,
  ...CREDENTIALS,
  ...OWN,
];

/** The last part of each name. A wildcard in it is not searched for here: it may stand for anything. */
const LAST_PARTS: ReadonlySet<string> = new Set(
  PROTECTED_CONFIG.map((name) => name.slice(name.lastIndexOf('/') + 1)),
);
const WILD_PARTS = [...LAST_PARTS]
  .filter((part) => part.includes('*'))
  .map((part) => part.slice(1));

/**
 * Whether a pattern may lie at or below a protected name. Hardly any does, and every start asks this of every rule that
 * grants writing.
 */
export function mayNameConfig(pattern: string): boolean {
  return (
    pattern.includes('\\') ||
    WILD_PARTS.some((ending) => pattern.includes(ending)) ||
    pattern.split('/').some((part) => LAST_PARTS.has(part))
  );
}

/** A protected name as a pattern. */
export function toConfigPattern(name: string): string {
  return `/**/${name}`;
}
