/** A rule that makes equal behaviour look equal. All of them are in the evidence, so that nothing is folded in secret. */
export interface NormalisationRule {
  readonly name: string;
  readonly appliesTo: string;
  readonly does: string;
  /** What can no longer be told from the run id because of it. */
  readonly hides: string;
}

const BORN = 'names born in the run';
const PASSING =
  'names born in the run that are gone after it, or lie in the private tmp or /dev/shm; also names that were looked for in these two and were not there';

export const NORMALISATION_RULES: readonly NormalisationRule[] = [
  {
    name: 'places',
    appliesTo: 'every path, the command, the words of rules',
    does: 'the working directory, the home and the tmp, also where the private tmp is seen, become ${CWD}, ${HOME} and ${TMPDIR}; the directories above the working directory become ${CWD}/.. and so on; /run/user/N and /run/dconf/user/N end in ${UID}',
    hides: 'where the run took place',
  },
  {
    name: 'dashed',
    appliesTo: 'every name',
    does: 'the working directory or the home written into one name, with any separator, becomes ${CWD-} or ${HOME-}; a directory of the run that follows = or : within a path is replaced as well',
    hides: 'which separator a program uses',
  },
  {
    name: 'mirror',
    appliesTo: BORN,
    does: 'the whole path of the working directory, made once more below another directory, becomes ${CWD} there, and the directories that lead to it become ${UP}',
    hides: 'how many directories lead to it',
  },
  {
    name: 'identity',
    appliesTo: PASSING,
    does: 'the number of the user as a token of its own becomes <*> also where it has more than five digits or reads as a year, unless its neighbours are there too, and the name of the user at the end becomes ${USER}',
    hides: 'which user',
  },
  {
    name: 'uuid',
    appliesTo: BORN,
    does: 'a UUID becomes <*>',
    hides: 'which session or lock',
  },
  {
    name: 'tool',
    appliesTo: BORN,
    does: 'forms of single tools (rustc sessions, locks of GnuPG, temporary files of Ruby, Claude Code snapshots, copies and working directory files), and the number of a .pid file, become <*>',
    hides: 'which of several such files',
  },
  {
    name: 'stamp',
    appliesTo: BORN,
    does: 'a date within 28 hours of the run, or a date and time within 15 hours, becomes <*>',
    hides: 'a date that lies near the run',
  },
  {
    name: 'date',
    appliesTo: 'directories with something born in the run',
    does: 'year, month and day as three directories, within 28 hours of the run, become <*>/<*>/<*>',
    hides: 'a date that lies near the run',
  },
  {
    name: 'epoch',
    appliesTo: BORN,
    does: 'seconds, milliseconds, microseconds or nanoseconds since 1970 within 5 seconds of the run become <*>',
    hides: 'a number that is a time of the run',
  },
  {
    name: 'pid',
    appliesTo: BORN,
    does: 'a number of five to seven digits that is a process number of the run becomes <*>; so does one of three or four behind the last dot of a name (log.310), unless it reads as a year, is the version of a library, or is one of a series with numbers that are none',
    hides: 'a number that happens to be a process number',
  },
  {
    name: 'store',
    appliesTo: `${BORN}, in stores told by their directory; also the directories of one or two digits of a store that got something`,
    does: 'digests that name git objects and packs, entries of the caches of npm, pnpm, pip and ccache, sessions of Claude Code, projects and sessions of Gemini, keys that GnuPG made, and the outputs of cargo become <*>; so do digests in a directory named for their first two digits, also those that were looked for there or in a cache of ccache, and two or more of 32 digits in one name',
    hides: 'which objects, and how many: refs and installed files stay visible',
  },
  {
    name: 'nanoid',
    appliesTo: PASSING,
    does: '21 characters of A-Z, a-z, 0-9, _ and - that do not read as words become <*>',
    hides: 'the name of a file that nobody finds after the run',
  },
  {
    name: 'loose',
    appliesTo: PASSING,
    does: 'a token of six characters or more that neither reads as words nor occurs in a name that stays becomes <*>; what git puts before it (tmp_obj_ and its like), and the name that it is renamed to, are kept',
    hides:
      'the odd name of a file that nobody finds after the run, or that was refused; its directory, the program and what was done stay, and an image that was executed has its digest',
  },
  {
    name: 'number',
    appliesTo: PASSING,
    does: 'a number of up to five digits that stands by itself, and is neither a year nor a part of a version (4.17.21, cpython-311), becomes <*>: it may be a process number; behind words and an underscore it does when it is one of the run',
    hides: 'which of several such files',
  },
  {
    name: 'siblings',
    appliesTo: PASSING,
    does: 'of four or more names of one directory, length, beginning and extension, all but one or nine in ten of them masked, all are masked',
    hides: 'the name of one among many of its kind',
  },
  {
    name: 'shards',
    appliesTo: PASSING,
    does: 'a directory of two hexadecimal digits becomes <*> when everything in it is masked',
    hides: 'over which directories a cache spreads what it names by digests',
  },
  {
    name: 'again',
    appliesTo: 'every name',
    does: 'a part of six characters or more that was masked in one name, other than as a date, a process number or the number of the user, is masked in all',
    hides: 'a lasting name that contains a random part of a passing one',
  },
  {
    name: 'lock-owner',
    appliesTo:
      'texts of symbolic links that are locks by their name (ending in lock or lck, .#name)',
    does: 'one that names no directory and has a process number of the run in it becomes <*>',
    hides: 'who holds the lock: user, host and process',
  },
  {
    name: 'kernel-numbers',
    appliesTo: 'paths in /proc and /dev/pts, and what has no path',
    does: '/proc/N is self when asked for by that name, ${PID} when a process of the run or 0, which none has, ${OTHER-PID} otherwise; threads, descriptors, terminals, pipes, sockets, namespaces and files that were opened without a name have no number, and files in memory no label; a read in /proc/N that assay did not refuse has no outcome',
    hides:
      'which process of the run, or which other process, and whether the system let it be read; which pipe; which of the files without a name in one directory; the label of a file in memory; of both an image that was executed has its digest',
  },
  {
    name: 'own-port',
    appliesTo: 'connections to the loopback address',
    does: 'a port that the run was given by the kernel becomes ${PORT}',
    hides: 'which of the servers of the run',
  },
  {
    name: 'drawn-port',
    appliesTo: 'UDP sockets that are bound to no address in particular',
    does: 'where eight or more different ports from 1024 on were named, as by resolvers that draw one for each question, these become ${PORT}',
    hides: 'which of these ports',
  },
  {
    name: 'connecting',
    appliesTo: 'connections',
    does: 'a connection that is under way counts as made',
    hides: 'whether it was made at once, and whether it failed later',
  },
  {
    name: 'upward-search',
    appliesTo: 'reads and executions that found nothing, and lists of directories',
    does: 'what was looked for in the working directory, in its parent, and in / or the directory below it on the way, becomes ${UP} for all directories above; these themselves do when it was them that were listed',
    hides:
      'how deep the working directory lies; that one of these was listed for another reason, too',
  },
  {
    name: 'way-down',
    appliesTo: 'directories above the working directory, the home or the tmp',
    does: 'to want to make one that is there is left out',
    hides: 'how deep these lie',
  },
  {
    name: 'path-search',
    appliesTo: 'executions that found nothing',
    does: 'left out when the same program then executed that name elsewhere',
    hides: 'the search path',
  },
  {
    name: 'too-early-too-late',
    appliesTo: 'paths made in the run',
    does: 'a failure because the path is not there is left out; to want to make what is there already counts as having made it; an interrupted call is left out',
    hides: 'the order of probe and creation, and who of several came first',
  },
  {
    name: 'effect',
    appliesTo: 'changes',
    does: 'create, write and truncate are write; mode, owner, times and attributes are meta, but making a file executable, unless its maker does it, or set-user-id is chmod+x or chmod+s; a change of owner that the system refuses is left out for what the run has made',
    hides: 'append, overwrite or create; which times or attributes',
  },
  {
    name: 'own-business',
    appliesTo: 'what a program has made, and perhaps moved, itself',
    does: 'left out: its reads of what is gone after the run or lies in the private tmp or /dev/shm, mode, owner and times that it gives these or a symbolic link, and times that it gives a directory',
    hides:
      'whether a program used its own temporary files and caches again, which depends on who of several processes came first; whether it set times that were right already',
  },
  {
    name: 'database-sides',
    appliesTo: 'files beside a database',
    does: 'the -wal, -shm and -journal of a database are the database',
    hides: 'the journal mode, and whether the last program tidied up',
  },
  {
    name: 'git-index',
    appliesTo: 'index.lock of a git directory',
    does: 'everything done with it is a write of the index',
    hides:
      'whether git has updated its index or only looked whether it must, which depends on file times',
  },
  {
    name: 'git-work-tree',
    appliesTo: 'reads by git, in the work tree of a repository that it uses',
    does: 'left out',
    hides: 'which files git compared again, which depends on file times',
  },
  {
    name: 'git-objects',
    appliesTo:
      'times of objects and packs of a git repository that git sets, and nothing else does; directories of objects whose names begin alike, which git lists, makes or removes',
    does: 'left out',
    hides:
      'which objects git found there when it was about to write them, which depends on file times, or when it guessed their number, and which directories it needed for them, which depends on their names',
  },
  {
    name: 'ccache-counts',
    appliesTo: 'reads by ccache of the counts that it keeps in its cache',
    does: 'left out',
    hides: 'which of its entries are counted together, which depends on their digests',
  },
  {
    name: 'locks',
    appliesTo: 'files made in the run that end in .lock or .lck, and sockets made in the run',
    does: 'their removal is left out',
    hides:
      'whether a lock was given up or renamed into place, the renaming stays visible; whether a server tidied up before the run ended',
  },
  {
    name: 'system-reads',
    appliesTo:
      'reads that were not refused, in system directories or the installation of the reading program',
    does: 'the directory stands for all, and one for all directories of libraries',
    hides: 'which file of the system was read; the digest of system reads beside the id tells',
  },
  {
    name: 'machine-reads',
    appliesTo:
      'reads of control groups, of the description of processors and memory in /sys, and of /proc/meminfo and its like',
    does: 'left out of the lines, not of the digest of system reads',
    hides: 'that a runtime asked how large or how busy the machine is',
  },
  {
    name: 'account-home',
    appliesTo: 'reads that found nothing in the home of the account, where the run has another one',
    does: 'they count as reads in ${HOME}',
    hides: 'which of the two homes a program went by',
  },
  {
    name: 'user-lookup',
    appliesTo:
      'reads that found nothing in the user databases of systemd, and connections to a name service cache that is not there',
    does: 'left out',
    hides: 'that the machine was asked about a user it does not know',
  },
  {
    name: 'translations',
    appliesTo: 'reads of message catalogues of the system (LC_MESSAGES/*.mo) that found nothing',
    does: 'left out',
    hides:
      'that a program looked for a message in the language of its user, which may be one about the user',
  },
  {
    name: 'own-image',
    appliesTo: 'reads',
    does: 'a program that reads its own image is left out',
    hides: 'that it did',
  },
];
