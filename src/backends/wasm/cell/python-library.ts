/** Parts of CPython that are there to test it: they write to its memory as told. Nobody needs them, nobody gets them. */
const NEVER = new Set([
  '_testbuffer',
  '_testcapi',
  '_testclinic',
  '_testinternalcapi',
  '_xxtestfuzz',
  'xxsubtype',
]);

/** Python itself does not start without these. */
const NEEDED_BUILT_IN = [
  '_abc',
  '_codecs',
  '_collections',
  '_functools',
  '_imp',
  '_io',
  '_operator',
  '_signal',
  '_sre',
  '_stat',
  '_string',
  '_thread',
  '_tracemalloc',
  '_warnings',
  '_weakref',
  'builtins',
  'errno',
  'faulthandler',
  'gc',
  'itertools',
  'marshal',
  'posix',
  'sys',
  'time',
  'zlib', // with which the library is packed
];
const NEEDED_FILES = ['encodings', '_sysconfigdata__wasi_wasm32-wasi'];

const WORD = 4;
const ENTRY = 2 * WORD;
/** A built-in module, to know the table by. */
const LANDMARK = 'pyexpat';
const MIN_TABLE = 40;
const MAX_TABLE = 200;
/** Functions are known by their place in a table, names by their address, which is far above. */
const MAX_FUNCTIONS = 65_536;

const END_RECORD = Buffer.from('PK\u0005\u0006', 'latin1');
const END_BYTES = 22;
const CENTRAL_HEAD = 46;
const LOCAL_HEAD = 30;
const MIN_MEMBERS = 100;

function findAll(memory: Buffer, needle: Buffer): number[] {
  const found: number[] = [];
  for (let at = memory.indexOf(needle); at >= 0; at = memory.indexOf(needle, at + 1))
    found.push(at);
  return found;
}

function readName(memory: Buffer, at: number): string | undefined {
  const end = at > 0 && at < memory.length ? memory.indexOf(0, at) : -1;
  if (end < 0 || end === at || end - at > 40) return undefined;
  const name = memory.toString('latin1', at, end);
  return /^\w+$/.test(name) ? name : undefined;
}

interface BuiltIn {
  readonly name: string;
  readonly entry: Buffer;
}

interface BuiltInTable {
  readonly start: number;
  readonly entries: readonly BuiltIn[];
}

/** Reads on from an entry as long as there are names of modules. */
function readTable(memory: Buffer, known: number): BuiltInTable {
  const nameAt = (at: number): string | undefined =>
    memory.readUInt32LE(at + WORD) < MAX_FUNCTIONS
      ? readName(memory, memory.readUInt32LE(at))
      : undefined;
  let start = known;
  while (start >= ENTRY && nameAt(start - ENTRY) !== undefined) start -= ENTRY;
  const entries: BuiltIn[] = [];
  for (let at = start; entries.length < MAX_TABLE; at += ENTRY) {
    const name = nameAt(at);
    if (name === undefined) break;
    entries.push({ name, entry: Buffer.from(memory.subarray(at, at + ENTRY)) });
  }
  return { start, entries };
}

/** CPython's `PyImport_Inittab`: pairs of a name and a function, up to a pair of zeros. */
function findBuiltInTable(memory: Buffer): BuiltInTable {
  for (const nameAt of findAll(memory, Buffer.from(`\0${LANDMARK}\0`))) {
    const pointer = Buffer.alloc(WORD);
    pointer.writeUInt32LE(nameAt + 1);
    for (const at of findAll(memory, pointer)) {
      if (at % WORD !== 0) continue;
      const table = readTable(memory, at);
      const names = new Set(table.entries.map(({ name }) => name));
      const isWhole = memory.readUInt32LE(table.start + table.entries.length * ENTRY) === 0;
      if (names.size >= MIN_TABLE && isWhole && names.has('posix') && names.has('sys'))
        return table;
    }
  }
  throw new Error('The built-in modules of this Python are not where they are known to be');
}

function keepBuiltIns(memory: Buffer, isKept: (name: string) => boolean): void {
  const { start, entries } = findBuiltInTable(memory);
  const kept = entries.filter(({ name }) => isKept(name)).map(({ entry }) => entry);
  const dropped = Buffer.alloc((entries.length - kept.length) * ENTRY);
  Buffer.concat([...kept, dropped]).copy(memory, start);
}

interface Member {
  readonly name: string;
  readonly record: Buffer;
  readonly dataAt: number;
  readonly dataBytes: number;
}

interface Library {
  readonly start: number;
  readonly end: number;
  readonly members: readonly Member[];
}

function readMember(memory: Buffer, at: number, start: number): Member {
  const nameBytes = memory.readUInt16LE(at + 28);
  const recordBytes =
    CENTRAL_HEAD + nameBytes + memory.readUInt16LE(at + 30) + memory.readUInt16LE(at + 32);
  const localAt = start + memory.readUInt32LE(at + 42);
  const headBytes =
    LOCAL_HEAD + memory.readUInt16LE(localAt + 26) + memory.readUInt16LE(localAt + 28);
  return {
    name: memory.toString('utf8', at + CENTRAL_HEAD, at + CENTRAL_HEAD + nameBytes),
    record: Buffer.from(memory.subarray(at, at + recordBytes)),
    dataAt: localAt,
    dataBytes: headBytes + memory.readUInt32LE(at + 20),
  };
}

/** The standard library: a ZIP archive in the memory that the engine starts with. */
function findLibrary(memory: Buffer): Library {
  for (const end of findAll(memory, END_RECORD)) {
    const count = memory.readUInt16LE(end + 10);
    const directoryBytes = memory.readUInt32LE(end + 12);
    const start = end - directoryBytes - memory.readUInt32LE(end + 16);
    if (count < MIN_MEMBERS || start < 0 || memory.toString('latin1', start, start + 2) !== 'PK')
      continue;
    const members: Member[] = [];
    for (let at = end - directoryBytes; at < end; at += members.at(-1)?.record.length ?? end)
      members.push(readMember(memory, at, start));
    if (members.length === count) return { start, end, members };
  }
  throw new Error('The library of this Python is not where it is known to be');
}

function topName(member: string): string {
  return member.replace(/\/.*$/, '').replace(/\.pyc?$/, '');
}

/** Takes the rest out of the archive, and its bytes out of the memory. */
function keepMembers(memory: Buffer, isKept: (name: string) => boolean): void {
  const { start, end, members } = findLibrary(memory);
  const kept = members.filter(({ name }) => isKept(topName(name)));
  for (const { name, dataAt, dataBytes } of members)
    if (!isKept(topName(name))) memory.fill(0, dataAt, dataAt + dataBytes);
  const oldBytes = memory.readUInt32LE(end + 12);
  memory.fill(0, end - oldBytes, end);
  const directory = Buffer.concat(kept.map(({ record }) => record));
  directory.copy(memory, end - directory.length);
  memory.writeUInt16LE(kept.length, end + 8);
  memory.writeUInt16LE(kept.length, end + 10);
  memory.writeUInt32LE(directory.length, end + 12);
  memory.writeUInt32LE(end - directory.length - start, end + 16);
  if (end + END_BYTES > memory.length) throw new Error('The library of this Python is cut off');
}

/**
 * Takes modules out of the interpreter before it runs: what is not in its memory cannot be imported, whatever code does
 * to the import system. Without a list all stay but those that only test the interpreter.
 */
export function limitModules(
  memory: WebAssembly.Memory,
  modules: readonly string[] | undefined,
): void {
  const bytes = Buffer.from(memory.buffer);
  if (!modules) return keepBuiltIns(bytes, (name) => !NEVER.has(name));
  const builtIn = new Set([...NEEDED_BUILT_IN, ...modules]);
  const files = new Set([...NEEDED_FILES, ...modules]);
  keepBuiltIns(bytes, (name) => builtIn.has(name) && !NEVER.has(name));
  keepMembers(bytes, (name) => files.has(name));
}
