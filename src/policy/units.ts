export const DURATION_FORM = 'a duration such as 30s, 5m or 1.5h (a plain number is seconds)';
export const SIZE_FORM = 'a size such as 512M, 2G or 1GiB (a plain number is bytes)';
export const COUNT_FORM = 'a whole number above zero';

/** With less memory no sandbox comes up, whatever it is for; no kernel has more processes. */
export const LEAST_MEMORY_BYTES = 1024 * 1024;
export const MOST_PIDS = 4_000_000;
export const MEMORY_FORM = `${SIZE_FORM}, 1M at least`;
export const PIDS_FORM = `a whole number from 1 to ${MOST_PIDS}`;

const DURATION_MS: Readonly<Record<string, number>> = {
  ms: 1,
  '': 1000,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** K, M, G, T are powers of 1024 and KB, MB, GB, TB powers of 1000, as in GNU coreutils. */
const SIZE_EXPONENTS: Readonly<Record<string, number>> = { k: 1, m: 2, g: 3, t: 4 };

/** Milliseconds, or undefined when `value` is not a duration above zero. */
export function parseDuration(value: string | number): number | undefined {
  const parts = splitUnit(value);
  const factor = DURATION_MS[parts?.unit ?? ''];
  if (!parts || factor === undefined) return undefined;
  return wholeAboveZero(parts.amount * factor);
}

/** Bytes, or undefined when `value` is not a size above zero. */
export function parseSize(value: string | number): number | undefined {
  const parts = splitUnit(value);
  if (!parts) return undefined;
  const unit = parts.unit.toLowerCase();
  if (unit === '' || unit === 'b') return wholeAboveZero(parts.amount);
  const exponent = SIZE_EXPONENTS[unit.charAt(0)];
  const suffix = unit.slice(1);
  if (exponent === undefined || !['', 'b', 'ib'].includes(suffix)) return undefined;
  return wholeAboveZero(parts.amount * (suffix === 'b' ? 1000 : 1024) ** exponent);
}

export function parseCount(value: string | number): number | undefined {
  const parts = splitUnit(value);
  if (!parts || parts.unit !== '' || !Number.isInteger(parts.amount)) return undefined;
  return wholeAboveZero(parts.amount);
}

export function parseMemory(value: string | number): number | undefined {
  const bytes = parseSize(value);
  return bytes !== undefined && bytes >= LEAST_MEMORY_BYTES ? bytes : undefined;
}

export function parsePids(value: string | number): number | undefined {
  const count = parseCount(value);
  return count !== undefined && count <= MOST_PIDS ? count : undefined;
}

function splitUnit(value: string | number): { amount: number; unit: string } | undefined {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0)
    return { amount: value, unit: '' };
  const match = /^(\d+(?:\.\d+)?) ?([A-Za-z]*)$/.exec(String(value).trim());
  if (!match) return undefined;
  return { amount: Number(match[1]), unit: match[2] ?? '' };
}

function wholeAboveZero(value: number): number | undefined {
  const whole = Math.round(value);
  return whole > 0 && Number.isSafeInteger(whole) ? whole : undefined;
}
