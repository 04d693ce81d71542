/** Stands for every file that is memory only. */
export const MEMORY_FORM = '/memfd:${N}';

/** Stands for the name of every file that was opened without one. */
export const NAMELESS_FORM = '#${N}';

/** Paths that the kernel numbers, or that lead to something without a path. */
export interface SpecialPaths {
  /** `requested` is what the program asked for, before links were resolved. */
  generalise(path: string, requested?: string): string | undefined;
}

/** A pipe, a socket or a namespace by its number, as a link in /proc shows it; other anonymous files have none. */
const NUMBERED = /^(\w+):\[\d+\]$/;
/** Memory that a program has given a label of its own choice. */
const MEMORY = /^\/memfd:/;
/** A file that was opened without a name, which the kernel calls by its number. */
const NAMELESS = /^#\d+ \(deleted\)$/;

export function isNameless(name: string): boolean {
  return NAMELESS.test(name);
}

export function isInMemory(path: string): boolean {
  return MEMORY.test(path);
}

/** `isProcess` tells whether a number is that of a process of this run. */
export function makeSpecialPaths(isProcess: (number: number) => boolean): SpecialPaths {
  function nameProcess(segment: string, requested: string | undefined): string {
    const isSelf = /^\/proc\/(?:self|thread-self)(?:\/|$)/.test(requested ?? '');
    if (isSelf || segment === 'self' || segment === 'thread-self') return 'self';
    // No process has number 0: it is that of one of the run which has ended, or has not begun.
    return segment === '0' || isProcess(Number(segment)) ? '${PID}' : '${OTHER-PID}';
  }

  return {
    generalise(path, requested) {
      if (path.startsWith('/dev/pts/')) return path.replace(/^\/dev\/pts\/\d+/, '/dev/pts/${N}');
      const [, kind] = NUMBERED.exec(path) ?? [];
      if (kind !== undefined) return `${kind}:[\${N}]`;
      if (isInMemory(path)) return MEMORY_FORM;
      if (!path.startsWith('/proc/')) return undefined;
      const [, segment = '', rest = ''] =
        /^\/proc\/(\d+|self|thread-self)((?:\/.*)?)$/s.exec(path) ?? [];
      if (segment === '') return undefined;
      const below = rest
        .replace(/\/task\/\d+/, '/task/${PID}')
        .replace(/\/(fd|fdinfo|map_files)\/[^/]+/, '/$1/${N}');
      return `/proc/${nameProcess(segment, requested)}${below}`;
    },
  };
}

const SYSTEM_DIRECTORY =
  /^\/(?:usr\/(?:local\/)?)?(?:bin|sbin|libexec|share|include|games|src)(?=\/|$)/;
/** One class, since which of them are searched depends on what the name service of the machine loads for a user. */
const LIBRARY_DIRECTORY = /^\/(?:usr\/(?:local\/)?)?lib(?:|32|64|x32)(?=\/|$)/;
const LIBRARIES = '/usr/lib';
/** Asked for users that the machine does not know otherwise. */
const USER_DATABASE = /^\/(?:etc|run|run\/host|run\/systemd|usr\/lib)\/userdb(?:\/|$)/;
/** The name service cache, which is asked first where there is one. */
const NAME_SERVICE = /^(?:\/var)?\/run\/nscd\/socket$/;
/** What a program says in the language of its user, such as that the machine does not know him. */
const TRANSLATION =
  /^\/usr\/(?:local\/)?(?:share|lib)\/locale(?:-langpack)?\/[^/]+\/LC_MESSAGES\/[^/]+\.mo$/;
/** How many processors, how much memory is left, which control group: the machine's business. */
const ABOUT_MACHINE =
  /^\/(?:sys\/(?:fs\/cgroup|devices\/system)|proc\/(?:cpuinfo|loadavg|meminfo|pressure|stat|sys\/vm\/overcommit_memory|uptime|vmstat))(?=\/|$)/;

/**
 * The directory class that a read falls into, or undefined when it counts for itself. Paths are generalised; `image`
 * is the program that reads.
 */
export function systemClassOf(path: string, image: string): string | undefined {
  if (LIBRARY_DIRECTORY.test(path)) return LIBRARIES;
  const directory = SYSTEM_DIRECTORY.exec(path);
  if (directory !== null) return directory[0];
  const prefix = installPrefixOf(image);
  if (prefix !== undefined && path.startsWith(`${prefix}/`)) return prefix;
  return undefined;
}

/** `/opt/node` of `/opt/node/bin/node`. What lies in the working directory or the tmp is nobody's installation. */
function installPrefixOf(image: string): string | undefined {
  const [, prefix] = /^(.+)\/(?:bin|sbin|libexec)\/[^/]+$/.exec(image) ?? [];
  if (prefix === undefined || /^\$\{(?:CWD|TMPDIR)\}/.test(prefix)) return undefined;
  return prefix.split('/').length >= 3 ? prefix : undefined;
}

/** What runtimes ask about the machine, at moments of their own choice. */
export function isAboutMachine(path: string): boolean {
  return ABOUT_MACHINE.test(path);
}

/** A file of the user database in its general form: whose it is differs from user to user. */
export function generaliseUserLookup(path: string, user: string): string {
  return path.replace(/(?<=\/userdb\/)[^/]+(?=\.[\w-]+$)/, (name) => {
    if (name === user) return '${USER}';
    return /^\d+$/.test(name) ? '${N}' : name;
  });
}

/**
 * What ccache reads again before it counts on. Whether the file is there depends on digests and process numbers. The
 * path is generalised.
 */
export function isCcacheCount(path: string, image: string): boolean {
  return /ccache(?:\/<\*>){1,4}\/stats$/.test(path) && image.endsWith('/ccache');
}

export function isTranslation(path: string): boolean {
  return TRANSLATION.test(path);
}

export function isUserLookup(path: string): boolean {
  return USER_DATABASE.test(path) || NAME_SERVICE.test(path);
}
