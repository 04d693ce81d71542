/*
 * Which git configuration is harmless. A list of what may stay, not of what may not: git has many settings that name a
 * program, and gains more. So it is with the form: a line that is not of the plainest kind is not read cleverly.
 */

/** Sections of which every setting is about looks or bookkeeping. */
const HARMLESS_SECTIONS = new Set(
  'advice branch color column fetch gc index init log merge notes pack pull push rebase rerere stash status tag user versionsort'.split(
    ' ',
  ),
);

const HARMLESS_SETTINGS = new Set([
  ...'repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks autocrlf eol safecrlf'
    .split(' ')
    .map((name) => `core.${name}`),
  ...'quotepath abbrev compression sharedrepository worktree bigfilethreshold untrackedcache sparsecheckout sparsecheckoutcone commentchar hidedotfiles'
    .split(' ')
    .map((name) => `core.${name}`),
  ...'objectformat worktreeconfig noop preciousobjects refstorage compatobjectformat'
    .split(' ')
    .map((name) => `extensions.${name}`),
  ...'url fetch push pushurl mirror prune prunetags tagopt skipdefaultupdate skipfetchall followremotehead'
    .split(' ')
    .map((name) => `remote.${name}`),
  ...'url active branch path fetchrecursesubmodules ignore shallow'
    .split(' ')
    .map((name) => `submodule.${name}`),
  'lfs.repositoryformatversion',
  'commit.cleanup',
  'commit.verbose',
  'diff.algorithm',
  'diff.renames',
]);

/** In the sections above, settings that name a program after all. */
const PROGRAMS = new Set([
  'merge.tool',
  'merge.driver',
  'merge.guitool',
  'rebase.instructionformat',
  'init.templatedir',
  'user.signingkey',
  'push.gpgsign',
  'gc.recentobjectshook',
  'rebase.exec',
]);

const COMMENT = /^\s*([#;].*)?$/;
const SECTION = /^\s*\[([-.A-Za-z0-9]+)(?:\s+"([^"\\]*)")?\]\s*$/;
const SETTING = /^\s*([A-Za-z][-A-Za-z0-9]*)\s*(?:=\s*(.*))?$/;

/** Undefined when it is harmless, else the first thing that is not. */
export function isHarmlessGitConfig(text: string): string | undefined {
  let section = '';
  let name: string | undefined;
  for (const line of text.split('\n')) {
    // A line that goes on in the next one is read in more than one way, even in comments.
    if (/\\\r?$/.test(line) || line.includes('\0')) return 'a line that goes on';
    if (COMMENT.test(line)) continue;
    const header = SECTION.exec(line);
    if (header) {
      section = (header[1] ?? '').toLowerCase();
      name = header[2];
      continue;
    }
    const setting = SETTING.exec(line);
    if (!setting) return 'a line that is not plain';
    const key = (setting[1] ?? '').toLowerCase();
    if (!isHarmlessSetting({ section, name, key }) || !isHarmlessValue(key, setting[2] ?? ''))
      return name === undefined ? `${section}.${key}` : `${section}.*.${key}`;
  }
  return undefined;
}

interface Setting {
  readonly section: string;
  /** The part in quotes, for sections that have one. */
  readonly name: string | undefined;
  readonly key: string;
}

/** Transports that are no programs of the user's choice. */
const TRANSPORTS = new Set(['file', 'git', 'http', 'https', 'ssh']);

function isHarmlessSetting({ section, name, key }: Setting): boolean {
  const setting = `${section}.${key}`;
  if (PROGRAMS.has(setting)) return false;
  if (setting === 'protocol.allow') return name !== undefined && TRANSPORTS.has(name);
  // `[merge "x"] driver` and the like: only these sections have names that mean nothing else.
  if (name !== undefined && section !== 'branch' && section !== 'remote' && section !== 'submodule')
    return false;
  return HARMLESS_SETTINGS.has(setting) || HARMLESS_SECTIONS.has(section);
}

/** An address may name a transport, which is a program: `ext::sh -c …`. */
function isHarmlessValue(key: string, value: string): boolean {
  const isAddress = key === 'url' || key === 'pushurl';
  return !isAddress || !(value.includes('::') || /^["\s]*-/.test(value) || value.includes('\\'));
}
