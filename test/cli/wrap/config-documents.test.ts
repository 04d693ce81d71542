import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyEdits, type ConfigDocument } from '../../../src/cli/wrap/config-document.ts';
import { JsonConfig } from '../../../src/cli/wrap/json-config.ts';
import { parseJsonc } from '../../../src/cli/wrap/jsonc.ts';
import { parseToml } from '../../../src/cli/wrap/toml.ts';
import { TomlConfig } from '../../../src/cli/wrap/toml-config.ts';
import {
  isWrapped,
  planUndo,
  planWrap,
  type WrapRecord,
} from '../../../src/cli/wrap/wrap-edits.ts';

const COMMAND = { program: '/opt/assay/bin/assay.js', flags: ['--preset', 'coding-agent'] };

const JSON_FILES: Readonly<Record<string, string>> = {
  'two spaces': `{
  "mcpServers": {
    "files": { "command": "npx", "args": ["-y", "server-files", "/srv"] },
    "alone": {
      "command": "/usr/bin/server"
    }
  },
  "other": [1, 2.50, null]
}
`,
  'comments and commas at the end': `// mine
{
\t"servers": { /* all */
\t\t"a": {
\t\t\t"type": "stdio",
\t\t\t"command": "node", // the runtime
\t\t\t"args": [
\t\t\t\t"server.js", // with a comment
\t\t\t\t"--port=1",
\t\t\t],
\t\t\t"env": { "API_KEY": "\${input:key}", "MODE": "x" },
\t\t},
\t},
}`,
  'one line': '{"mcpServers":{"a":{"command":"x"},"b":{"args":["1"],"command":"y"}}}',
  'lines that end as on Windows':
    '{\r\n  "mcpServers": {\r\n    "a": {\r\n      "command": "x",\r\n      "args": [\r\n        "1"\r\n      ]\r\n    }\r\n  }\r\n}\r\n',
  'a mark at the start': '\uFEFF{ "mcpServers": { "ä\\u00f6": { "command": "\\u0078\\"" } } }',
};

const TOML_FILES: Readonly<Record<string, string>> = {
  tables: `# mine
model = "o5"

[mcp_servers.files] # files
command = "npx" # the runner
args = ["-y", 'server-files'] # what it runs
startup_timeout_sec = 20

[mcp_servers.files.env]
API_KEY = "x"

  [mcp_servers."with space"]
  command = '/usr/bin/server' # no args

[other]
args = 1
`,
  'several lines': `[mcp_servers.a]
args = [
    "one", # 1
    "two",
]
command = "x"
env = { "TOKEN" = "t", MODE = "m" }
`,
  'inline tables': `[mcp_servers]
a = { command = "x", args = ["1"] }
b = { command = "y" }
c = { url = "https://example.com/mcp" }
`,
  'dotted keys':
    'mcp_servers.a.command = "x"\nmcp_servers.a.env.KEY = "v"\ndate = 2026-01-01 10:00:00Z\n',
};

function wrapAll(document: ConfigDocument): { text: string; records: Map<string, WrapRecord> } {
  const records = new Map<string, WrapRecord>();
  const edits = document.servers.flatMap((entry) => {
    const plan = planWrap(document, entry, COMMAND);
    if (plan.kind !== 'edited') return [];
    if (plan.record) records.set(entry.name, plan.record);
    return plan.edits;
  });
  return { text: applyEdits(document.text, edits), records };
}

function undoAll(document: ConfigDocument, records: ReadonlyMap<string, WrapRecord>): string {
  const edits = document.servers.flatMap((entry) => {
    const plan = planUndo(document, entry, records.get(entry.name));
    return plan.kind === 'edited' ? plan.edits : [];
  });
  return applyEdits(document.text, edits);
}

/** What a server is started with, by name. */
function listCommands({ servers }: ConfigDocument): Record<string, readonly string[]> {
  return Object.fromEntries(
    servers.map(({ name, command, args }) => [
      name,
      [command?.value ?? '', ...(args?.value ?? [])],
    ]),
  );
}

const CASES = [
  ...Object.entries(JSON_FILES).map(
    ([name, text]) => [`JSON, ${name}`, text, (from: string) => new JsonConfig(from)] as const,
  ),
  ...Object.entries(TOML_FILES).map(
    ([name, text]) => [`TOML, ${name}`, text, (from: string) => new TomlConfig(from)] as const,
  ),
];

describe.each(CASES)('a configuration in %s', (_, text, open: (text: string) => ConfigDocument) => {
  it('has every server under assay, with its own command behind it', () => {
    const before = listCommands(open(text));
    const wrapped = open(wrapAll(open(text)).text);
    for (const entry of wrapped.servers) {
      const old = before[entry.name] ?? [];
      if (entry.url !== undefined) continue;
      const [program, ...args] = [entry.command?.value, ...(entry.args?.value ?? [])];
      expect(program).toBe(COMMAND.program);
      const env = entry.envNames.length > 0 ? ['--env-allow', entry.envNames.join(',')] : [];
      expect(args).toEqual(['sandbox', '--quiet', ...COMMAND.flags, ...env, '--', ...old]);
    }
  });

  it('is the same, byte by byte, once it is undone', () => {
    const { text: wrapped, records } = wrapAll(open(text));
    expect(wrapped).not.toBe(text);
    expect(undoAll(open(wrapped), records)).toBe(text);
  });

  it('is not wrapped twice', () => {
    const { text: wrapped } = wrapAll(open(text));
    expect(wrapAll(open(wrapped)).text).toBe(wrapped);
  });

  it('means the same once it is undone without knowing what was there', () => {
    const { text: wrapped } = wrapAll(open(text));
    const undone = open(undoAll(open(wrapped), new Map()));
    expect(listCommands(undone)).toEqual(listCommands(open(text)));
    expect(undone.servers.some(isWrapped)).toBe(false);
  });

  it('is undone also after something else in it was changed', () => {
    const { text: wrapped, records } = wrapAll(open(text));
    const comment = open(text) instanceof TomlConfig ? '# new\n' : '// new\n';
    const changed = wrapped.startsWith('\uFEFF')
      ? `\uFEFF${comment}${wrapped.slice(1)}`
      : comment + wrapped;
    const undone = undoAll(open(changed), records);
    expect(undone.replace(comment, '')).toBe(text);
  });
});

describe('planWrap()', () => {
  it.each([
    ['{"mcpServers":{"a":{"url":"https://example.com"}}}', 'remote (https://example.com)'],
    ['{"mcpServers":{"a":{"type":"http","httpUrl":"https://example.com"}}}', 'remote'],
    ['{"mcpServers":{"a":{"args":["x"]}}}', 'no command'],
    ['{"mcpServers":{"a":{"command":"x","args":[1]}}}', 'not a list of strings'],
    ['{"mcpServers":{"a":{"command":"npx -y x"}}}', 'spaces'],
    ['{"mcpServers":{"a":{"command":"assay","args":["sandbox","--","x"]}}}', 'already'],
  ])('leaves %s', (text, reason) => {
    const document = new JsonConfig(text);
    const [entry] = document.servers;
    if (!entry) throw new Error('no server');
    expect(planWrap(document, entry, COMMAND)).toMatchObject({
      kind: 'left',
      reason: expect.stringContaining(reason),
    });
  });

  it('finds the servers of every project in the file of Claude', () => {
    const text =
      '{"mcpServers":{"a":{"command":"x"}},"projects":{"/srv/p":{"mcpServers":{"b":{"command":"y"}}},"/q":{}}}';
    expect(new JsonConfig(text).servers.map(({ name, scope }) => [name, scope])).toEqual([
      ['a', undefined],
      ['b', '/srv/p'],
    ]);
  });
});

describe('parseJsonc()', () => {
  it('reads whatever JSON.parse() does, and finds strings where they are', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 2, '\t'), (value, space) => {
        const text = JSON.stringify(value, null, space);
        const node = parseJsonc(text);
        expect([node.start, node.end]).toEqual([0, text.length]);
      }),
    );
  });

  it.each([
    '{',
    '{"a"}',
    '{"a":}',
    '[1 2]',
    '{"a":1 "b":2}',
    '"a',
    '{} x',
    '',
    '{,}',
    '[,]',
    '"\\x"',
  ])('refuses %j with the place', (text) => {
    expect(() => parseJsonc(text)).toThrow(/^\d+:\d+: /);
  });
});

describe('parseToml()', () => {
  it('reads strings of every kind', () => {
    const text = `a = "\\u00e4\\t\\\\"\nb = 'C:\\x'\nc = """\nx\\
      y"""\nd = '''\nz'''\n`;
    expect(
      parseToml(text).map(({ value }) => (value.kind === 'string' ? value.value : '')),
    ).toEqual(['ä\t\\', 'C:\\x', 'xy', 'z']);
  });

  it.each(['a', 'a =', '[a', 'a = "x', 'a = [1 2]', 'a = 1 b = 2', '= 1'])('refuses %j', (text) => {
    expect(() => parseToml(text)).toThrow(/^\d+:\d+: /);
  });
});
