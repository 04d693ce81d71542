// Environment variables by what they could do. Names are compared in capitals, since `npm_config_*` and `http_proxy`
// are as good as their capital forms. A FAMILY is what stands before the first `_`: AWS stands for AWS_*.
// Names that tell of a secret by a word in them (`*_TOKEN`, `*_PASS`, …) are in core/secret-names.ts.

function words(...lines: readonly string[]): ReadonlySet<string> {
  return new Set(lines.join(' ').split(' '));
}

/**
 * Passed in every mode. SHELL, EDITOR, VISUAL and PAGER name programs, but the user's own, and tools that start a shell
 * or show long output need them; the boundary holds whatever they start. (Strip one with `env.deny`.)
 */
export const SAFE_NAMES: ReadonlySet<string> = words(
  'PATH HOME USER LOGNAME SHELL PWD OLDPWD TZ',
  'TMPDIR TMP TEMP', // replaced by the private tmp at launch
  'LANG LANGUAGE TERM COLORTERM COLUMNS LINES',
  'CLICOLOR CLICOLOR_FORCE NO_COLOR FORCE_COLOR',
  'EDITOR VISUAL PAGER LESS LESSCHARSET',
  'RUST_LOG RUST_BACKTRACE RUST_LIB_BACKTRACE',
  'CARGO_HOME CARGO_TARGET_DIR RUSTUP_HOME',
);

export const SAFE_FAMILIES: ReadonlySet<string> = words('LC XDG');

/** Services and tools whose variables hold credentials, or tell too much about where they are used. */
export const SECRET_FAMILIES: ReadonlySet<string> = words(
  // Model providers
  'OPENAI ANTHROPIC',
  // Clouds and hosters
  'AWS AZURE GCP GOOGLE DIGITALOCEAN LINODE VULTR CLOUDFLARE HEROKU',
  'VERCEL NETLIFY FLY ALIYUN ALICLOUD TENCENTCLOUD',
  // Forges and CI; ACTIONS_* reaches the token service of a GitHub job
  'GITHUB GH GITLAB BITBUCKET CI CIRCLE TRAVIS JENKINS BUILDKITE',
  'CODEBUILD ACTIONS',
  // Databases and queues
  'REDIS MONGO MONGODB MYSQL MARIADB POSTGRES POSTGRESQL RABBITMQ AMQP',
  // Keys, vaults and clusters; OP and BW are password managers
  'SSH GPG VAULT DOCKER OP BW',
  // Package registries
  'YARN PIP PYPI TWINE GEM NUGET',
  // Messages, payments, monitoring
  'SLACK DISCORD TWILIO SENDGRID STRIPE SENTRY DATADOG NEWRELIC SMTP',
  // Sockets of the editor that assay was started from: through them it opens files and runs commands
  'VSCODE',
);

export const SECRET_NAMES: ReadonlySet<string> = words(
  // Who connects, and where the password is
  'PGUSER PGPASSFILE NETRC KUBECONFIG KRB5CCNAME KRB5_KTNAME',
  // Doors to programs outside that do what they are told: message buses, keyrings, displays (an X client reads every
  // key and types into every window), container engines, the service manager
  'XDG_RUNTIME_DIR SESSION_MANAGER GNOME_KEYRING_CONTROL CONTAINER_HOST',
  'DISPLAY WAYLAND_DISPLAY XAUTHORITY ICEAUTHORITY PULSE_SERVER PIPEWIRE_REMOTE',
  'LISTEN_FDS LISTEN_PID LISTEN_FDNAMES BUILDKIT_HOST',
  // Terminals and editors that take commands
  'TMUX STY NVIM NVIM_LISTEN_ADDRESS KITTY_LISTEN_ON EMACS_SOCKET_NAME',
);

/** More doors: `SWAYSOCK`, `WEZTERM_UNIX_SOCKET`, `DBUS_SESSION_BUS_ADDRESS`; and Terraform's variables. */
export const SECRET_ENDINGS: readonly string[] = ['SOCK', '_SOCKET', '_BUS_ADDRESS'];
export const SECRET_BEGINNINGS: readonly string[] = ['TF_VAR_'];

/** Every variable of these makes a program load or run something, or write a file where the variable says. */
export const EXEC_FAMILIES: ReadonlySet<string> = words(
  'LD', // the dynamic loader
  'DYLD',
  'CMAKE',
  'LUA', // LUA_INIT is a program, LUA_PATH where to find more
  'DISTCC',
  'CORECLR COMPLUS COR', // .NET profilers, which are libraries to load
);

/** Beginnings that are not a family of their own. */
export const EXEC_BEGINNINGS: readonly string[] = [
  'PYTHON', // PYTHONPATH, PYTHONSTARTUP, PYTHONINSPECT, …
  'PERL', // PERL5LIB, PERL5OPT, PERL5DB, PERL_MM_OPT, …
  'RUBY', // RUBYOPT, RUBYLIB, RUBY_GC_*, …
  'BASH_FUNC_', // functions, which replace commands
  'GIT_CONFIG', // GIT_CONFIG_COUNT sets any key, and many keys name a program
  'GIT_TRACE', // writes to any file
  'LESSKEY', // binds keys to commands
  'TERMINFO',
  'CARGO_TARGET_', // CARGO_TARGET_<triple>_RUNNER, _LINKER; CARGO_TARGET_DIR is in the safe base
  'CARGO_BUILD_',
  'CARGO_ALIAS_',
  'CARGO_ENCODED_',
  'ASSAY_NODE_', // where the launcher keeps the NODE_* that it hides from node
];

/** `MANPAGER` and `GIT_PAGER` (not PAGER), `KUBE_EDITOR` (not EDITOR), `SUDO_ASKPASS`, `GRADLE_OPTS`. */
export const EXEC_ENDINGS: readonly string[] = [
  'PAGER',
  'EDITOR',
  '_ASKPASS',
  '_OPTS',
  'JAVA_OPTIONS',
  '_LD_PRELOAD',
  '_LD_LIBRARY_PATH',
];

export const EXEC_NAMES: ReadonlySet<string> = words(
  // Shells: files and commands run at start or at a prompt, and how words are cut and commands are found
  'ENV BASH_ENV ZDOTDIR FPATH PROMPT_COMMAND PS0 PS1 PS2 PS4 IFS',
  'SHELLOPTS BASHOPTS BASH_XTRACEFD BASH_LOADABLES_PATH CDPATH GLOBIGNORE',
  'EXECIGNORE FIGNORE HOSTFILE INPUTRC MAILPATH TIMEFORMAT HISTFILE',
  'NULLCMD READNULLCMD FCEDIT TMPPREFIX',
  // The C library: code and data it loads, and where names of hosts lead
  'GCONV_PATH GETCONF_DIR GLIBC_TUNABLES LOCPATH NLSPATH TZDIR TERMCAP',
  'MALLOC_CHECK_ MALLOC_TRACE MALLOC_CONF HOSTALIASES LOCALDOMAIN RES_OPTIONS',
  'RESOLV_HOST_CONF SHLIB_PATH LIBPATH',
  // TLS: engines are libraries; the key log gives every session away
  'OPENSSL_CONF OPENSSL_CONF_INCLUDE OPENSSL_MODULES OPENSSL_ENGINES SSLKEYLOGFILE',
  'GIT_SSL_NO_VERIFY SASL_PATH KRB5_CONFIG',
  // Node. The channel descriptor is closed inside, and node would stop over it
  'NODE_OPTIONS NODE_PATH NODE_EXTRA_CA_CERTS NODE_REDIRECT_WARNINGS NODE_DEBUG',
  'NODE_DEBUG_NATIVE NODE_PENDING_DEPRECATION NODE_PENDING_PIPE_INSTANCES',
  'NODE_PRESERVE_SYMLINKS NODE_PRESERVE_SYMLINKS_MAIN NODE_REPL_EXTERNAL_MODULE',
  'NODE_REPL_HISTORY NODE_TLS_REJECT_UNAUTHORIZED NODE_V8_COVERAGE NODE_ICU_DATA',
  'NODE_COMPILE_CACHE NODE_CHANNEL_FD NODE_CHANNEL_SERIALIZATION_MODE NODE_UNIQUE_ID',
  'NODE_TEST_CONTEXT NODE_GYP_FORCE_PYTHON ELECTRON_RUN_AS_NODE TS_NODE_PROJECT',
  'BUN_OPTIONS BUN_INSPECT',
  // npm: programs, and files of settings that name programs
  'NPM_CONFIG_SCRIPT_SHELL NPM_CONFIG_NODE_OPTIONS NPM_CONFIG_SHELL NPM_CONFIG_GIT',
  'NPM_CONFIG_VIEWER NPM_CONFIG_BROWSER NPM_CONFIG_PYTHON NPM_CONFIG_NODE_GYP',
  'NPM_CONFIG_INIT_MODULE NPM_CONFIG_USERCONFIG NPM_CONFIG_GLOBALCONFIG',
  // Other languages
  'JAVA_TOOL_OPTIONS CLASSPATH',
  'GOFLAGS GOENV GOTOOLCHAIN PHPRC PHP_INI_SCAN_DIR TCLLIBPATH ERL_LIBS',
  'ERL_FLAGS ERL_AFLAGS ERL_ZFLAGS ELIXIR_ERL_OPTIONS GHCRTS GHC_ENVIRONMENT',
  'R_PROFILE R_PROFILE_USER R_ENVIRON R_ENVIRON_USER R_LIBS R_LIBS_USER',
  'JULIA_LOAD_PATH JULIA_DEPOT_PATH DOTNET_STARTUP_HOOKS DOTNET_ADDITIONAL_DEPS',
  'MONO_PATH MONO_ENV_OPTIONS',
  // Compilers and build tools
  'RUSTC RUSTDOC RUSTC_WRAPPER RUSTDOC_WRAPPER RUSTC_WORKSPACE_WRAPPER',
  'RUSTFLAGS RUSTDOCFLAGS CC CXX CPP FC F77 CFLAGS CXXFLAGS',
  'CPPFLAGS LDFLAGS LIBS AR AS LD NM OBJCOPY OBJDUMP RANLIB STRIP',
  'PKG_CONFIG PKG_CONFIG_PATH PKG_CONFIG_LIBDIR PKG_CONFIG_SYSROOT_DIR CPATH',
  'GCC_EXEC_PREFIX COMPILER_PATH LIBRARY_PATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH',
  'DEPENDENCIES_OUTPUT SUNPRO_DEPENDENCIES CCACHE_PREFIX CCACHE_COMPILER',
  'CCACHE_CONFIGPATH CONFIG_SITE CONFIG_SHELL M4PATH ACLOCAL_PATH MAKE',
  'MAKEFLAGS MFLAGS MAKELEVEL MAKEFILES GNUMAKEFLAGS',
  // git and its kin
  'GIT_EXEC_PATH GIT_TEMPLATE_DIR GIT_SSH GIT_SSH_COMMAND GIT_SSH_VARIANT',
  'GIT_EXTERNAL_DIFF GIT_PROXY_COMMAND GIT_ALLOW_PROTOCOL',
  'HGRCPATH SVN_SSH CVS_RSH RSYNC_RSH RSYNC_CONNECT_PROG',
  // Tools that take commands or settings from a variable
  'LESSOPEN LESSCLOSE LESSEDIT TAR_OPTIONS VIMINIT EXINIT MYVIMRC VIMRUNTIME',
  'EMACSLOADPATH WGETRC CURL_HOME SCREENRC ODBCINI ODBCSYSINI',
  // Plug-ins of desktop libraries
  'GTK_MODULES GTK_PATH GTK_EXE_PREFIX GIO_EXTRA_MODULES GDK_PIXBUF_MODULE_FILE',
  'GST_PLUGIN_PATH GST_PLUGIN_SCANNER QT_PLUGIN_PATH QT_QPA_PLATFORM_PLUGIN_PATH',
  'QML_IMPORT_PATH QML2_IMPORT_PATH VK_LAYER_PATH VK_INSTANCE_LAYERS',
  'VK_ICD_FILENAMES VK_DRIVER_FILES LIBGL_DRIVERS_PATH OCL_ICD_VENDORS',
  'ALSA_CONFIG_PATH MAGICK_CONFIGURE_PATH MAGICK_CODER_MODULE_PATH',
);
