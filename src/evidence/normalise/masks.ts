import type { NumberRange, RunRecord } from '../run-record.ts';

/** Stands for whatever a program made up. One for all rules, so that it does not matter which of two rules saw it. */
export const MASK = '<*>';

/** Told of each part of a name that a rule has put {@link MASK} for. */
export type NoteMask = (rule: string, part: string) => void;

/** Rules that are safe by the form or the value of what they find: they apply to every name born in the run. */
export interface StrictMasks {
  /** `directory` is where the name lies, as seen inside. */
  apply(name: string, directory: string, note: NoteMask): string;
  isRunDate(year: number, month: number, day: number): boolean;
  /** Whether a number is that of a process of the run. */
  readonly isProcess: (number: number) => boolean;
}

const UUID =
  /(?<![0-9A-Za-z])[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}(?![0-9A-Za-z])/g;

/**
 * Year, month, day, and perhaps a time of day, with or without separators. Two digits behind `-`, `_` or `.` are seconds
 * only where they end: in `12-00-45abcdef` something else begins.
 */
const STAMP =
  /(?<!\d)(20\d\d)[-_.]?([01]\d)[-_.]?([0-3]\d)(?:[-_T. ]?([0-2]\d)[-_.:hH]?([0-5]\d)(?:[:mM]?[0-6]\d|[-_.][0-6]\d(?=(?:s|[AP]M|[ap]m|UTC|GMT|Z)?(?![0-9A-Za-z])))?(?:[-_.,]?\d{1,9}(?![0-9A-Ya-z]))?Z?)?(?!\d)/g;

/** Temporary files of Ruby: the day, the process, and up to six characters, which other rules take for too few. */
const DAY_AND_PROCESS = /(?<!\d)(20\d\d)([01]\d)([0-3]\d)-(\d{1,7})-[0-9a-z]{1,6}(?![0-9A-Za-z])/g;

const EPOCH = /(?<![0-9A-Za-z])(?:\d{10}|\d{13}|\d{16}|\d{19})(?![0-9A-Za-z])/g;
/** Smaller ones count, version and number all kinds of things; assay lets process numbers start higher where it can. */
const NUMBER = /(?<![0-9A-Za-z])\d{5,7}(?![0-9A-Za-z])/g;

/** Formats of single tools that stay, or that are too short for a general rule. Group 1 is kept. */
const TOOL_FORMS: readonly RegExp[] = [
  // rustc: a session of incremental compilation
  /^(s-)[0-9a-z]{10}-[0-9a-z]{6,7}(?:-(?!working)[0-9a-z]{20,26})?(?=(?:-working|\.lock)?$)/,
  // Claude Code: its working directory file, shell snapshots, copies of files by a hash of their path
  /^(claude-)[0-9a-f]{4}(?=-cwd$)/,
  /^(snapshot-[a-z]+-)\d{13}-[0-9a-z]{4,8}(?=\.sh$)/,
  /^()[0-9a-f]{16}(?=@v\d+$)/,
  // GnuPG: a lock by an address in memory, the host and the process
  /^(\.#lk0x)[0-9a-f]+\..+\.\d+(?=x?$)/,
  // A file that says by its name that it is about a process
  /^((?:.*[^0-9])?)\d{1,7}(?=\.pid$)/,
];

/** A result or a manifest of ccache, by a digest that holds the directory. Group 1 is kept. */
export const CCACHE_ENTRY = /^()[0-9a-v]{29,32}(?=[RM](?:\.|$))/;

/**
 * Stores that name by content or by address, where content holds a time and an address holds a directory or a port.
 * Told by the directory, so that a digest in an ordinary name is never touched. Group 1 is kept.
 */
const STORE_FORMS: readonly { readonly directory: RegExp; readonly name: RegExp }[] = [
  {
    directory: /\/objects\/(?:tmp_objdir-[^/]+\/)?[0-9a-f]{2}$/,
    name: /^()(?:[0-9a-f]{38}|[0-9a-f]{62})$/,
  },
  {
    directory: /\/objects\/(?:tmp_objdir-[^/]+\/)?(?:pack|info\/commit-graphs)$/,
    name: /^((?:pack|multi-pack-index|graph)-)(?:[0-9a-f]{64}|[0-9a-f]{40})(?=\.|$)/,
  },
  { directory: /\/_cacache\/(?:content-v2\/sha\d+|index-v5)(?:\/|$)/, name: /^()[0-9a-f]+$/ },
  {
    directory: /\/pip\/(?:http|http-v2|wheels|selfcheck)(?:\/|$)/,
    name: /^()(?:[0-9a-f]{1,2}|[0-9a-f]{32,64})(?=\.|$)/,
  },
  {
    directory: /\/(?:debug|release)\/(?:deps|\.fingerprint|build|examples)$/,
    name: /^([\w.-]+-)[0-9a-f]{16}(?=\.|$)/,
  },
  { directory: /\/target\/(?:\w+\/)*incremental$/, name: /^(\w+-)[0-9a-z]{12,13}$/ },
  {
    directory: /store\/v\d+\/(?:files|index)(?:\/[0-9a-f]{2})?$/,
    name: /^()(?:[0-9a-f]{2}$|(?:[0-9a-f]{126}|[0-9a-f]{62})(?=-|$))/,
  },
  {
    directory: /\/(?:private-keys-v1|openpgp-revocs)\.d$/,
    name: /^()[0-9A-F]{40}(?=\.(?:key|rev)(?:\.tmp)?$)/,
  },
  { directory: /ccache(?:\/[0-9a-v]){1,4}$/, name: CCACHE_ENTRY },
  { directory: /\/\.claude\/sessions$/, name: /^()\d{1,7}(?=\.json$)/ },
  { directory: /\/\.gemini\/tmp\/[^/]+\/chats$/, name: /^(session-<\*>-)[0-9a-f]{8}(?=\.)/ },
];

/** Where Gemini keeps what belongs to a project, by the name of its directory. */
const PROJECTS = /\/\.gemini\/(?:tmp|history)$/;

/** What caches spread over directories: the digest begins with the name of the directory. Group 1 is kept. */
const SPREAD = /^((?:\w+_)?)([0-9a-f]{2})(?:[0-9a-f]{30}|[0-9a-f]{38}|[0-9a-f]{62})(?=[-.]|$)/;
/** Two digests or more in one name: what a cache is for, as jest calls its own. */
const DIGESTS = /(?<![0-9A-Za-z])[0-9a-f]{32}(?:-[0-9a-f]{32})+(?![0-9A-Za-z])/;

/** Whether a path is one of those that a cache spreads over directories. */
export function isSpread(name: string, directory: string): boolean {
  const start = name.length < 32 ? undefined : SPREAD.exec(name)?.[2];
  return start !== undefined && directory.endsWith(`/${start}`);
}

export function maskSpread(name: string): string {
  return name.replace(SPREAD, `$1${MASK}`);
}

const HOUR_MS = 3_600_000;

export function makeStrictMasks(record: RunRecord): StrictMasks {
  const { startedMs, endedMs } = record;
  const isIn = (ms: number, slackMs: number): boolean =>
    ms >= startedMs - slackMs && ms <= endedMs + slackMs;
  const isProcess = makeRangeTest(record.pids);

  function isRunDate(year: number, month: number, day: number): boolean {
    const ms = Date.UTC(year, month - 1, day, 12);
    return new Date(ms).getUTCDate() === day && isIn(ms, 28 * HOUR_MS);
  }

  function isRunStamp(parts: readonly (string | undefined)[]): boolean {
    const [year = 0, month = 0, day = 0, hour, minute] = parts.map((part) =>
      part === undefined ? undefined : Number(part),
    );
    if (hour === undefined) return isRunDate(year, month, day);
    const ms = Date.UTC(year, month - 1, day, hour, minute);
    // Fifteen hours, since nobody knows the time zone of a name.
    return isIn(ms, 15 * HOUR_MS);
  }

  function isRunEpoch(digits: string): boolean {
    return isIn(Number(digits.slice(0, 13).padEnd(13, '0')), 5000);
  }

  const storeForms = new Map<string, readonly RegExp[]>();
  function storeFormsOf(directory: string): readonly RegExp[] {
    let forms = storeForms.get(directory);
    if (forms === undefined) {
      forms = STORE_FORMS.filter((form) => form.directory.test(directory)).map(({ name }) => name);
      storeForms.set(directory, forms);
    }
    return forms;
  }

  return {
    isRunDate,
    isProcess,
    apply(name, directory, note) {
      const mask = (rule: string, part: string): string => {
        note(rule, part);
        return MASK;
      };
      // A word that means something in other names, so that it is not looked for there.
      if (PROJECTS.test(directory) && name !== 'bin') return mask('store', '');
      let result = name;
      if (result.length >= 36) result = result.replace(UUID, (part) => mask('uuid', part));
      result = applyForms(result, TOOL_FORMS, (part) => mask('tool', part));
      if (/\d{3}/.test(result)) {
        result = result.replace(DAY_AND_PROCESS, (part, ...groups) => {
          const [year = 0, month = 0, day = 0, pid = 0] = groups.slice(0, 4).map(Number);
          return isRunDate(year, month, day) && isProcess(pid) ? mask('tool', part) : part;
        });
        result = result.replace(STAMP, (part, ...groups) =>
          isRunStamp(groups.slice(0, 5) as (string | undefined)[]) ? mask('stamp', part) : part,
        );
        result = result.replace(EPOCH, (part) => (isRunEpoch(part) ? mask('epoch', part) : part));
        result = result.replace(NUMBER, (part) =>
          isProcess(Number(part)) ? mask('pid', part) : part,
        );
      }
      const forms = isSpread(result, directory) ? [SPREAD] : storeFormsOf(directory);
      result = applyForms(result, forms, (part) => mask('store', part));
      result = result.replace(DIGESTS, (part) => mask('store', part));
      return mergeMasks(result);
    },
  };
}

function applyForms(
  name: string,
  forms: readonly RegExp[],
  mask: (part: string) => string,
): string {
  let result = name;
  for (const form of forms)
    result = result.replace(
      form,
      (found: string, kept: string) => kept + mask(found.slice(kept.length)),
    );
  return result;
}

/** Neighbours become one, so that it does not matter where one ended: `<*>-<*>` is `<*>`. */
export function mergeMasks(name: string): string {
  return name.includes(MASK) ? name.replace(/<\*>(?:[-_.]?<\*>)+/g, MASK) : name;
}

export function makeRangeTest(ranges: readonly NumberRange[]): (number: number) => boolean {
  const sorted = [...ranges].sort((a, b) => a.first - b.first);
  const merged: { first: number; last: number }[] = [];
  for (const { first, last } of sorted) {
    const before = merged.at(-1);
    if (before !== undefined && first <= before.last + 1) before.last = Math.max(before.last, last);
    else merged.push({ first, last });
  }
  return (number) => {
    let low = 0;
    let high = merged.length - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const range = merged[middle];
      if (range === undefined) return false;
      if (number < range.first) high = middle - 1;
      else if (number > range.last) low = middle + 1;
      else return true;
    }
    return false;
  };
}
