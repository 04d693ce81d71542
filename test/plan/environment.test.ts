import { describe, expect, it } from 'vitest';
import { filterEnvironment } from '../../src/plan/environment.ts';
import type { EnvRules } from '../../src/policy/policy.ts';

const DEFAULTS: EnvRules = {
  mode: 'scrub',
  isExecStripped: true,
  isPathSafe: false,
  allow: [],
  deny: [],
  set: {},
};

/** Not a word that could turn up in a message for another reason. */
const VALUE = 'wqvalue-5309';

function filter(env: Record<string, string>, rules: Partial<EnvRules> = {}) {
  return filterEnvironment({ env, rules: { ...DEFAULTS, ...rules } });
}

function fates(names: string, rules: Partial<EnvRules> = {}) {
  const list = names.trim().split(/\s+/);
  const { scrubbed, stripped, passed } = filter(
    Object.fromEntries(list.map((name) => [name, VALUE])),
    rules,
  );
  return { list: list.sort(), scrubbed, stripped, passed };
}

describe('secrets', () => {
  it('scrubs names of every family and word that the inspiring format knows', () => {
    const { list, scrubbed } = fates(`
      X_TOKEN X_SECRET X_KEY X_PASSWORD X_CREDENTIALS X_API_KEY X_APIKEY X_AUTH X_BEARER AWS_REGION OPENAI_ORG
      ANTHROPIC_BASE_URL AZURE_X GCP_X GOOGLE_X DIGITALOCEAN_X LINODE_X VULTR_X CLOUDFLARE_X HEROKU_X VERCEL_X
      NETLIFY_X FLY_X GITHUB_ACTOR GITLAB_X BITBUCKET_X CI_JOB CIRCLE_X TRAVIS_X JENKINS_X BUILDKITE_X CODEBUILD_X
      DATABASE_URL X_DATABASE_URL X_CONNECTION_STRING X_CONN_STR REDIS_X MONGO_X MYSQL_X POSTGRES_X PGPASSWORD
      PGUSER SSH_CONNECTION GPG_TTY VAULT_ADDR KUBECONFIG DOCKER_HOST NPM_TOKEN NPM_AUTH_TOKEN YARN_X PIP_X PYPI_X
      CARGO_REGISTRY_TOKEN GEM_X NUGET_X X_PRIVATE_KEY X_SIGNING_KEY X_ENCRYPTION_KEY SLACK_X DISCORD_X TWILIO_X
      SENDGRID_X STRIPE_X SENTRY_X DATADOG_X NEWRELIC_X`);
    expect(scrubbed).toEqual(list);
  });

  it('scrubs what that format lets through', () => {
    const { list, scrubbed } = fates(`
      TOKEN SECRET PASSWORD PASS KEY AUTH CREDENTIALS DB_PASS DB_PWD SENTRY_DSN KEY_PASSPHRASE A_COOKIE BW_SESSION
      my_service_password githubToken aws_region npm_config__authToken NPM_CONFIG__AUTH
      npm_config_//host/:_password GH_HOST ACTIONS_RUNTIME_URL TF_VAR_anything PGPASSFILE`);
    expect(scrubbed).toEqual(list);
  });

  it('scrubs the doors to programs outside', () => {
    const { list, scrubbed } = fates(`
      SSH_AUTH_SOCK DBUS_SESSION_BUS_ADDRESS XDG_RUNTIME_DIR GPG_AGENT_INFO WAYLAND_DISPLAY DISPLAY XAUTHORITY
      SWAYSOCK NOTIFY_SOCKET TMUX VSCODE_IPC_HOOK_CLI CONTAINER_HOST GNOME_KEYRING_CONTROL`);
    expect(scrubbed).toEqual(list);
  });

  it.each([
    ['http_proxy', 'http://user:pw@proxy:3128'],
    ['SOME_URL', 'https://token@host/'],
    ['LESS', 'ghp_' + 'a1B2c3D4e5'.repeat(4)],
    ['HEADERS', 'X: Bearer sk-ant-' + 'a1B2c3D4e5'.repeat(4)],
    ['PEM', ['-----BEGIN EC', 'PRIVATE KEY-----\nabc'].join(' ')],
  ])('scrubs %s for its value alone', (name, value) => {
    expect(filter({ [name]: value }).scrubbed).toEqual([name]);
    expect(filter({ [name]: 'http://proxy:3128' }).passed).toEqual([name]);
  });

  it('is not led astray by a name with a newline in it', () => {
    const result = filter({ 'a\nb': '1', my_pass: VALUE, c: '1' });
    expect(result.scrubbed).toEqual(['my_pass']);
    expect(result.passed).toEqual(['a\nb', 'c']);
  });

  it('passes what work needs', () => {
    const { list, passed } = fates(`
      HOME USER LOGNAME SHELL PWD OLDPWD LANG LC_ALL TERM COLORTERM NO_COLOR TZ EDITOR VISUAL PAGER LESS
      XDG_CONFIG_HOME XDG_SESSION_ID RUST_LOG CARGO_HOME CARGO_TARGET_DIR NODE_ENV CI DEBUG http_proxy NO_PROXY
      npm_config_registry GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GOPATH JAVA_HOME VIRTUAL_ENV SSL_CERT_FILE
      TERM_PROGRAM DESKTOP_SESSION MAX_THINKING_TOKENS npm_lifecycle_event KEYBOARD`);
    expect(passed).toEqual(list);
  });
});

describe('execution influence', () => {
  it('strips every name that the inspiring format knows, but for SHELL', () => {
    const { list, stripped } = fates(`
      LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT LD_DEBUG LD_DEBUG_OUTPUT LD_PROFILE LD_PROFILE_OUTPUT LD_BIND_NOW
      LD_BIND_NOT LD_DYNAMIC_WEAK LD_HWCAP_MASK LD_ORIGIN_PATH LD_ASSUME_KERNEL LD_POINTER_GUARD
      LD_PREFER_MAP_32BIT_EXEC LD_SHOW_AUXV LD_USE_LOAD_BIAS LD_VERBOSE LD_WARN DYLD_X PYTHONPATH PYTHONSTARTUP
      PYTHONHOME PYTHONUSERBASE PYTHONEXECUTABLE PYTHONWARNINGS PYTHONDONTWRITEBYTECODE PYTHONHASHSEED
      PYTHONINSPECT PYTHONIOENCODING PYTHONNOUSERSITE PYTHONOPTIMIZE PYTHONUNBUFFERED PYTHONVERBOSE PYTHONMALLOC
      PYTHONCOERCECLOCALE PYTHONDEVMODE PYTHONFAULTHANDLER PYTHONTRACEMALLOC PYTHONPROFILEIMPORTTIME
      PYTHONBREAKPOINT NODE_OPTIONS NODE_PATH NODE_EXTRA_CA_CERTS NODE_REDIRECT_WARNINGS NODE_DEBUG
      NODE_DEBUG_NATIVE NODE_PENDING_DEPRECATION NODE_PENDING_PIPE_INSTANCES NODE_PRESERVE_SYMLINKS
      NODE_PRESERVE_SYMLINKS_MAIN NODE_REPL_EXTERNAL_MODULE NODE_REPL_HISTORY NODE_TLS_REJECT_UNAUTHORIZED
      NODE_V8_COVERAGE RUBYOPT RUBYLIB RUBYPATH RUBYSHELL RUBY_GC_X RUBY_THREAD_X PERL5LIB PERL5OPT PERLLIB
      PERL_MM_OPT PERL_MB_OPT JAVA_TOOL_OPTIONS _JAVA_OPTIONS JAVA_OPTIONS CLASSPATH JDK_JAVA_OPTIONS
      RUSTC_WRAPPER RUSTDOC_WRAPPER RUSTC_WORKSPACE_WRAPPER RUSTFLAGS RUSTDOCFLAGS CARGO_ENCODED_RUSTFLAGS
      CARGO_ENCODED_RUSTDOCFLAGS CARGO_BUILD_RUSTFLAGS CARGO_BUILD_RUSTDOCFLAGS CC CXX CPP CFLAGS CXXFLAGS
      CPPFLAGS LDFLAGS LIBS AR AS LD NM OBJCOPY OBJDUMP RANLIB STRIP PKG_CONFIG PKG_CONFIG_PATH
      PKG_CONFIG_LIBDIR CMAKE_X MAKEFLAGS MFLAGS MAKELEVEL BASH_ENV ENV ZDOTDIR CDPATH GLOBIGNORE BASH_XTRACEFD
      PS4 PROMPT_COMMAND FIGNORE HOSTFILE INPUTRC MAILPATH TIMEFORMAT GIT_EXEC_PATH GIT_TEMPLATE_DIR
      GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_ASKPASS GIT_SSH GIT_SSH_COMMAND SSH_ASKPASS SUDO_ASKPASS
      GIT_EXTERNAL_DIFF GIT_DIFF_OPTS GIT_PAGER GIT_EDITOR GIT_SEQUENCE_EDITOR EXECIGNORE IFS`);
    expect(stripped).toEqual(list);
  });

  it('strips what that format does not know', () => {
    const { list, stripped } = fates(`
      BASH_FUNC_ls%% LD_ANYTHING GLIBC_TUNABLES PERL5DB LESSOPEN LESSCLOSE MANPAGER GCONV_PATH LOCPATH NLSPATH
      TERMINFO TERMINFO_DIRS HOSTALIASES RES_OPTIONS OPENSSL_CONF OPENSSL_MODULES SSLKEYLOGFILE GIT_TRACE
      GIT_TRACE_PACKET GIT_CONFIG_COUNT GIT_CONFIG_KEY_0 GIT_PROXY_COMMAND npm_config_script_shell
      npm_config_node_options NODE_CHANNEL_FD GOFLAGS TAR_OPTIONS GRADLE_OPTS CARGO_TARGET_X_RUNNER
      ASSAY_NODE_OPTIONS DOTNET_STARTUP_HOOKS MALLOC_TRACE SHELLOPTS`);
    expect(stripped).toEqual(list);
  });

  it('strips a function that an old shell exported under a name of its own', () => {
    expect(filter({ x: '() { :; }; echo hi' }).stripped).toEqual(['x']);
  });

  it('passes and reports them when stripping is off, but not in strict mode', () => {
    const env = { CC: 'gcc', LD_PRELOAD: VALUE };
    const off = filter(env, { isExecStripped: false });
    expect(off.passed).toEqual(['CC', 'LD_PRELOAD']);
    expect(off.allowedExec).toEqual(['CC', 'LD_PRELOAD']);
    expect(filter(env, { isExecStripped: false, mode: 'strict' }).stripped).toEqual([
      'CC',
      'LD_PRELOAD',
    ]);
  });
});

describe('rules', () => {
  it('lets an allowed name win over scrubbing and stripping, and reports what steers execution', () => {
    const env = {
      GITHUB_TOKEN: VALUE,
      LD_PRELOAD: VALUE,
      AWS_A: VALUE,
      AWS_B: VALUE,
      TOKEN: VALUE,
    };
    for (const mode of ['scrub', 'strict'] as const) {
      const result = filter(env, { mode, allow: ['GITHUB_TOKEN', 'LD_PRELOAD', 'AWS_*'] });
      expect(result.passed).toEqual(['AWS_A', 'AWS_B', 'GITHUB_TOKEN', 'LD_PRELOAD']);
      expect(result.scrubbed).toEqual(['TOKEN']);
      expect(result.allowedExec).toEqual(['LD_PRELOAD']);
    }
  });

  it('takes an allowed name exactly: neither another case nor a longer name', () => {
    const env = { token: VALUE, TOKEN_2: VALUE };
    expect(filter(env, { allow: ['TOKEN'] }).scrubbed).toEqual(['TOKEN_2', 'token']);
  });

  it('lets deny win over allow and the safe base, in any case, but not in passthrough', () => {
    const env = { HOME: '/h', foo_bar: VALUE };
    const rules = { allow: ['HOME', 'foo_bar'], deny: ['HOME', 'FOO_*'] };
    expect(filter(env, rules).scrubbed).toEqual(['HOME', 'foo_bar']);
    expect(filter(env, { ...rules, mode: 'passthrough' }).passed).toEqual(['HOME', 'foo_bar']);
  });

  it('sets what the policy sets, over what was there', () => {
    const result = filter(
      { TOKEN: VALUE },
      { set: { TOKEN: 'public', B: '1', '': 'x', 'a=b': 'x' } },
    );
    expect(result.env).toEqual([
      ['B', '1'],
      ['TOKEN', 'public'],
    ]);
    expect(filter({}, { set: { NODE_OPTIONS: '-r x' } }).allowedExec).toEqual(['NODE_OPTIONS']);
  });

  it('keeps only the safe base in strict mode', () => {
    const env = {
      HOME: '/h',
      LC_ALL: 'C',
      XDG_DATA_HOME: '/d',
      XDG_RUNTIME_DIR: '/r',
      FOO: '1',
      CI: '1',
    };
    const result = filter(env, { mode: 'strict' });
    expect(result.passed).toEqual(['HOME', 'LC_ALL', 'XDG_DATA_HOME']);
    expect(result.scrubbed).toEqual(['CI', 'FOO', 'XDG_RUNTIME_DIR']);
  });

  it('passes everything untouched in passthrough', () => {
    const env = { PATH: 'bin:', TOKEN: VALUE, LD_PRELOAD: VALUE };
    const result = filter(env, { mode: 'passthrough', isPathSafe: true });
    expect(Object.fromEntries(result.env)).toEqual(env);
  });

  it('drops what cannot be in an environment', () => {
    expect(filter({ '': 'x', 'a=b': 'x', 'a\0': 'x', b: 'x\0y', c: '' }).env).toEqual([['c', '']]);
  });
});

describe('PATH', () => {
  const pathOf = (path: string, rules: Partial<EnvRules> = {}) =>
    new Map(filter({ PATH: path }, rules).env).get('PATH');

  it.each(['scrub', 'strict'] as const)('loses relative and empty entries in %s mode', (mode) => {
    expect(pathOf(':bin:/usr/bin:.:./x:/bin:', { mode })).toBe('/usr/bin:/bin');
    expect(pathOf('/usr/bin::/opt/x', { mode, allow: ['PATH'] })).toBe('/usr/bin:/opt/x');
  });

  it('is never empty, since that means the directory the program stands in', () => {
    expect(pathOf('.:')).toBe('/usr/bin:/bin');
    expect(pathOf('')).toBe('/usr/bin:/bin');
  });

  it('is the system path where asked, also when there was none', () => {
    expect(pathOf('/opt/bin', { isPathSafe: true, set: { PATH: '/x' } })).toBe('/usr/bin:/bin');
    expect(filter({}, { isPathSafe: true }).env).toEqual([['PATH', '/usr/bin:/bin']]);
  });

  it('survives directories whose names look like tokens', () => {
    const path = '/srv/sk-2024-experiments-in-learning/bin';
    expect(pathOf(path)).toBe(path);
  });
});

describe('the report', () => {
  const env = { HOME: '/h', TOKEN: VALUE, LD_PRELOAD: VALUE, NODE_OPTIONS: VALUE, B: '1', A: '1' };

  it('says what happened in one line', () => {
    expect(filter(env, { allow: ['NODE_OPTIONS'] }).banner).toBe(
      'scrubbed (4 passed, 1 removed), exec-influence stripped: 1, ⚠ exec-influence ALLOWED: NODE_OPTIONS',
    );
    expect(filter({ HOME: '/h', FOO: '1' }, { mode: 'strict' }).banner).toBe(
      'strict (1 passed, 1 removed)',
    );
    expect(filter({ A: '1' }, { mode: 'passthrough' }).banner).toBe(
      '⚠ passthrough (1 passed, 0 removed), DANGER',
    );
  });

  it('is sorted by name', () => {
    expect(filter(env).env.map(([name]) => name)).toEqual(['A', 'B', 'HOME']);
  });

  it.each(['scrub', 'strict', 'passthrough'] as const)('holds no value in %s mode', (mode) => {
    const { env: _, ...report } = filter(env, { mode, allow: ['NODE_OPTIONS'] });
    expect(JSON.stringify(report)).not.toContain(VALUE);
  });
});
