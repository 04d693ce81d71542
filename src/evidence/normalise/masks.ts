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
}

const UUID =
  /(?<![0-9A-Za-z])[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}(?![0-9A-Za-z])/g;

/** Year, month, day, and perhaps a time of day, with or without separators. */
const STAMP =
  /(?<!\d)(20\d\d)[-_.]?([01]\d)[-_.]?([0-3]\d)(?:[-_T. ]?([0-2]\d)[-_.:hH]?([0-5]\d)(?:[-_.:mM]?([0-6]\d))?(?:[-_.,]?\d{1,9})?Z?)?(?!\d)/g;

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
  // A file that says by its name that it is about a process
  /^((?:.*[^0-9])?)\d{1,7}(?=\.pid$)/,
];

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
  { directory: /\/\.claude\/sessions$/, name: /^()\d{1,7}(?=\.json$)/ },
  { directory: /\/go-build(?:\/|$)/, name: /^()(?:[0-9a-f]{2}|[0-9a-f]{64}(?=-[ad]$))/ },
];

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
    const [year = 0, month = 0, day = 0, hour, minute, second] = parts.map((part) =>
      part === undefined ? undefined : Number(part),
    );
    if (hour === undefined) return isRunDate(year, month, day);
    const ms = Date.UTC(year, month - 1, day, hour, minute, Math.min(second ?? 0, 59));
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
    apply(name, directory, note) {
      const mask = (rule: string, part: string): string => {
        note(rule, part);
        return MASK;
      };
      let result = name;
      if (result.length >= 36) result = result.replace(UUID, (part) => mask('uuid', part));
      result = applyForms(result, TOOL_FORMS, (part) => mask('tool', part));
      if (/\d{3}/.test(result)) {
        result = result.replace(STAMP, (part, ...groups) =>
          isRunStamp(groups.slice(0, 6) as (string | undefined)[]) ? mask('stamp', part) : part,
        );
        result = result.replace(EPOCH, (part) => (isRunEpoch(part) ? mask('epoch', part) : part));
        result = result.replace(NUMBER, (part) =>
          isProcess(Number(part)) ? mask('pid', part) : part,
        );
      }
      result = applyForms(result, storeFormsOf(directory), (part) => mask('store', part));
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
