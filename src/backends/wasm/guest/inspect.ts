const MAX_DEPTH = 2;
const MAX_ITEMS = 100;
const LINE_WIDTH = 72;

interface State {
  readonly depth: number;
  readonly above: readonly object[];
}

function quote(text: string): string {
  const escaped = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"');
  if (!text.includes("'")) return `'${escaped}'`;
  return text.includes('"') ? `\`${escaped}\`` : `"${escaped}"`;
}

function nameKey(key: PropertyKey): string {
  if (typeof key === 'symbol') return `[${String(key)}]`;
  return /^[A-Za-z_$][\w$]*$/.test(String(key)) ? String(key) : quote(String(key));
}

function nameOf(value: object): string {
  const { constructor } = (Object.getPrototypeOf(value) ?? {}) as { constructor?: unknown };
  return typeof constructor === 'function' ? constructor.name : '[Object: null prototype]';
}

function layOut(prefix: string, [open, close]: [string, string], parts: readonly string[]): string {
  const head = prefix ? `${prefix} ` : '';
  if (parts.length === 0) return `${head}${open}${close}`;
  const line = `${head}${open} ${parts.join(', ')} ${close}`;
  if (line.length <= LINE_WIDTH && !line.includes('\n')) return line;
  const inner = parts.map((part) => `  ${part.replaceAll('\n', '\n  ')}`).join(',\n');
  return `${head}${open}\n${inner}\n${close}`;
}

function listProperties(
  value: object,
  state: State,
  skip: (key: PropertyKey) => boolean,
): string[] {
  return Reflect.ownKeys(value)
    .filter((key) => !skip(key))
    .flatMap((key) => {
      const property = Object.getOwnPropertyDescriptor(value, key);
      if (!property?.enumerable) return [];
      const text = property.get
        ? property.set
          ? '[Getter/Setter]'
          : '[Getter]'
        : property.set
          ? '[Setter]'
          : inspectValue(property.value, state);
      return [`${nameKey(key)}: ${text}`];
    });
}

function cut<T>(items: readonly T[], show: (item: T) => string): string[] {
  const shown = items.slice(0, MAX_ITEMS).map(show);
  const rest = items.length - shown.length;
  return rest > 0 ? [...shown, `... ${rest} more item${rest > 1 ? 's' : ''}`] : shown;
}

function inspectError(error: Error): string {
  const head = `${error.name}${error.message ? `: ${error.message}` : ''}`;
  const frames = typeof error.stack === 'string' ? error.stack.trimEnd().split('\n') : [];
  const stack = frames.filter((line) => !line.includes('(assay:library')).join('\n');
  return stack ? `${head}\n${stack}` : head;
}

function isIndex(key: PropertyKey): boolean {
  return typeof key === 'string' && /^\d+$/.test(key);
}

function inspectObject(value: object, state: State): string {
  if (state.above.includes(value)) return '[Circular *1]';
  if (value instanceof Error) return inspectError(value);
  if (value instanceof Date)
    return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
  if (value instanceof RegExp) return String(value);
  const name = nameOf(value);
  const isEmpty =
    Object.keys(value).length === 0 && !(value instanceof Map || value instanceof Set);
  if (state.depth > MAX_DEPTH && !isEmpty) return Array.isArray(value) ? '[Array]' : `[${name}]`;
  const inner = { depth: state.depth + 1, above: [...state.above, value] };
  const show = (item: unknown): string => inspectValue(item, inner);
  if (Array.isArray(value)) {
    const rest = listProperties(value, inner, (key) => isIndex(key) || key === 'length');
    return layOut('', ['[', ']'], [...cut(value, show), ...rest]);
  }
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
    const items = Array.from(value as unknown as ArrayLike<number | bigint>);
    return layOut(`${name}(${items.length})`, ['[', ']'], cut(items, show));
  }
  if (value instanceof Map)
    return layOut(
      `Map(${value.size})`,
      ['{', '}'],
      cut([...value], ([key, item]) => `${show(key)} => ${show(item)}`),
    );
  if (value instanceof Set) return layOut(`Set(${value.size})`, ['{', '}'], cut([...value], show));
  if (value instanceof Promise) return 'Promise {}';
  const parts = listProperties(value, inner, () => false);
  return layOut(name === 'Object' ? '' : name, ['{', '}'], parts);
}

function inspectValue(value: unknown, state: State): string {
  if (typeof value === 'string') return quote(value);
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'symbol') return String(value);
  if (typeof value === 'function') {
    const kind = /^class\b/.test(Function.prototype.toString.call(value)) ? 'class' : 'Function';
    return kind === 'class'
      ? `[class ${value.name || '(anonymous)'}]`
      : `[Function${value.name ? `: ${value.name}` : ' (anonymous)'}]`;
  }
  if (typeof value !== 'object' || value === null)
    return Object.is(value, -0) ? '-0' : String(value);
  return inspectObject(value, state);
}

export function inspect(value: unknown): string {
  return inspectValue(value, { depth: 0, above: [] });
}

const DIRECTIVES: Readonly<Record<string, (value: unknown) => string>> = {
  s: (value) => (typeof value === 'object' && value !== null ? inspect(value) : String(value)),
  d: (value) => String(Number(value)),
  i: (value) => String(Number.parseInt(String(value), 10)),
  f: (value) => String(Number.parseFloat(String(value))),
  j: (value) => JSON.stringify(value) ?? 'undefined',
  o: inspect,
  O: inspect,
  c: () => '',
};

/** As `console.log` puts its arguments together. */
export function format(...args: readonly unknown[]): string {
  const rest = [...args];
  const parts: string[] = [];
  if (typeof rest[0] === 'string' && rest.length > 1) {
    const pattern = rest.shift() as string;
    parts.push(
      pattern.replaceAll(/%([sdifjoOc%])/g, (whole, letter: string) => {
        if (letter === '%') return '%';
        return rest.length > 0 ? (DIRECTIVES[letter]?.(rest.shift()) ?? whole) : whole;
      }),
    );
  }
  parts.push(...rest.map((value) => (typeof value === 'string' ? value : inspect(value))));
  return parts.join(' ');
}
