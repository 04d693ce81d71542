import { describe, expect, it } from 'vitest';
import { AssayError } from '../../src/core/errors.ts';
import { parsePolicyText } from '../../src/policy/load.ts';
import { choosePolicyParser } from '../../src/policy/parser.ts';
import { parsePolicyJson } from '../../src/policy/parse-json.ts';
import { formatProblems, PolicyError } from '../../src/policy/problems.ts';

/** What a user would be shown for a file that must not load. */
function complain(text: string, file = 'policy.yaml'): string {
  try {
    parsePolicyText(text, file);
  } catch (error) {
    if (error instanceof PolicyError) return formatProblems(error.problems);
    throw error;
  }
  throw new Error('the policy loaded');
}

describe('parsePolicyText()', () => {
  it('reads every key', () => {
    const text = `
api_version: assay/v1
extends: [coding-agent, ./base.yaml]
fs:
  allow: ["\${CWD}"]
  read: [/srv]
  write:
    - /var/log/app
  exec: [~/bin]
  deny: ["*.pem"]
  protect: [Makefile]
net: { allow: [example.com, 443], deny: ["0.0.0.0/0"] }
unix: { allow: [/run/docker.sock] }
env:
  mode: strict
  strip_exec: false
  safe_path: true
  allow: [CI]
  deny: [DEBUG]
  set: { PORT: 8080, FLAG: true, NAME: x }
limits: { timeout: 5m, cpu: 30, memory: 2G, pids: 64, disk: 1GiB, files: 1000, open_files: 256 }
tests:
  - deny: fs.read ~/.ssh/id_rsa
  - allow: net.connect example.com:443
`;
    const { data } = parsePolicyText(text, 'policy.yaml');
    expect(data).toMatchSnapshot();
    expect(parsePolicyText(JSON.stringify(data), 'policy.json').data).toEqual(data);
  });

  it('takes an empty list, map or file for what it is', () => {
    expect(parsePolicyText('fs:\n  allow:\n  deny: []\nnet:\n', 'p.yaml').data).toEqual({
      fs: { allow: [], deny: [] },
      net: {},
    });
    expect(parsePolicyText('# nothing\n', 'p.yaml').data).toEqual({});
  });

  it('remembers where every entry stands', () => {
    const { file } = parsePolicyText('fs:\n  read:\n    - /a\n    - "/b"\n', 'p.yaml');
    expect(file?.places.get('fs.read.1')).toEqual({ file: 'p.yaml', line: 4, column: 7 });
    const json = parsePolicyText('{\n "fs": {"read": ["/a",\n  "/b"]}}', 'p.json');
    expect(json.file?.places.get('fs.read.1')).toEqual({ file: 'p.json', line: 3, column: 3 });
  });

  it.each([
    ['unknown key', 'fs:\n  wriet: [/x]\n'],
    ['unknown key at the top, nothing near', 'filesystem_rules: {}\n'],
    ['key of the wrong case', 'FS: {}\n'],
    ['key that is a property of every object', 'constructor: 1\n__proto__: 2\n'],
    ['repeated key', 'fs: {}\nnet: {}\nfs: {}\n'],
    ['wrong version', 'api_version: assay/v2\n'],
    ['version as a number', 'api_version: 1\n'],
    ['a list for the whole', '- fs\n'],
    ['a text for the whole', 'hello\n'],
    ['a text for a list', 'fs:\n  allow: /x\n'],
    ['a map for a list', 'fs:\n  allow: { a: b }\n'],
    ['a list for a map', 'fs: [allow]\n'],
    ['a number for a path', 'fs:\n  allow: [8]\n'],
    ['a bare tilde', 'fs:\n  allow:\n    - ~\n'],
    ['nothing in a list', 'fs:\n  allow:\n    -\n'],
    ['a list in a list', 'fs:\n  allow:\n    - [a]\n'],
    ['an empty text', 'fs:\n  allow: [""]\n'],
    ['a NUL byte', 'fs:\n  allow: ["a\\0b"]\n'],
    ['white space at the ends', 'fs:\n  allow: [" /x"]\n'],
    ['a bare star', 'fs:\n  deny:\n    - *.pem\n'],
    ['an alias', 'fs:\n  deny: &x [a]\n  read: *x\n'],
    ['a tag', 'fs:\n  deny:\n    - !x y\n'],
    ['two documents', 'fs: {}\n---\nfs: {}\n'],
    ['bad YAML', 'fs:\n  allow: [a\nnet: {}\n'],
    ['a tab', 'fs:\n\tallow: []\n'],
    ['a key that is a list', '? [a]\n: b\n'],
    ['a bad mode', 'env: { mode: strickt }\n'],
    ['a text for a boolean', 'env: { safe_path: yes }\n'],
    ['a bad variable name', 'env:\n  allow: ["A=B"]\n  set: { "A B": x, C: , D: [1], E: "\\0" }\n'],
    ['a list for env.set', 'env: { set: [A] }\n'],
    ['a bad duration', 'limits: { timeout: 5 minutes }\n'],
    ['a bad size', 'limits: { memory: 2X }\n'],
    ['a bad count', 'limits: { pids: 1.5, files: 0 }\n'],
    ['counts that are written otherwise', 'limits: { pids: 0x10000000, files: 1e99 }\n'],
    ['a list for a limit', 'limits: { pids: [1] }\n'],
    ['control characters in a host', 'net: { allow: ["a\\e[31mb"] }\n'],
    ['a URL for a host', 'net: { allow: ["https://example.com/"] }\n'],
    ['a bad port', 'net: { allow: [0, 70000] }\n'],
    ['an example without a path', 'tests:\n  - deny: fs.read\n'],
    ['an example with an unknown operation', 'tests:\n  - deny: fs.raed /x\n'],
    ['an example with two keys', 'tests:\n  - { allow: fs.read /x, deny: fs.read /y }\n'],
    ['an example without a key', 'tests:\n  - {}\n'],
    ['an example that is a text', 'tests:\n  - deny fs.read /x\n'],
    ['control characters', 'fs:\n  "a\\e[31m": 1 # \u0007\n'],
    ['a long line', `fs: { allow: [/a], ${'x'.repeat(200)}: 1, deny: [/b] }\n`],
    ['deep nesting', `fs: ${'['.repeat(40)}${']'.repeat(40)}\n`],
    [
      'several problems',
      'fs:\n  alow: [x]\n  read: 5\nnet:\n  allow: [a b]\nlimits:\n  pids: none\n',
    ],
  ])('explains %s', (_, text) => expect(complain(text)).toMatchSnapshot());

  it.each([
    ['a missing comma', '{"fs": {} "net": {}}'],
    ['a trailing comma', '{"fs": {"allow": ["a",]}}'],
    ['a bare key', '{fs: 1}'],
    ['a missing colon', '{"fs" 1}'],
    ['a bare word', '{"fs": yes}'],
    ['an unclosed string', '{"fs": "a\n"}'],
    ['a bad escape', '{"fs": "\\x"}'],
    ['more than one value', '{} {}'],
    ['nothing at all', ''],
    ['repeated keys', '{"fs": {},\n "fs": {}}'],
    ['an unknown key', '{"fs": {"raed": []}}'],
    ['deep nesting', '['.repeat(40)],
  ])('explains JSON with %s', (_, text) => expect(complain(text, 'policy.json')).toMatchSnapshot());

  it('throws one error that stands for the first problem and carries all', () => {
    let caught: unknown;
    try {
      parsePolicyText('a: 1\nb: 2\n', 'p.yaml');
    } catch (error) {
      caught = error;
    }
    expect(caught).toBeInstanceOf(AssayError);
    expect(caught).toMatchObject({
      code: 'E_POLICY_LOAD_FAILED_UNENFORCEABLE',
      exitCode: 2,
      message: 'unknown key `a` (first of 2 problems)',
      at: { file: 'p.yaml', line: 1, column: 1 },
      snippet: '  a: 1\n  ^',
      problems: { length: 2 },
    });
  });
});

describe('choosePolicyParser()', () => {
  it('leaves YAML out for JSON that builds on presets only', async () => {
    expect(await choosePolicyParser('{"extends":["coding-agent"]}', 'p.json')).toBe(
      parsePolicyJson,
    );
    expect(await choosePolicyParser('{"extends":["./base.yaml"]}', 'p.json')).toBe(parsePolicyText);
    expect(await choosePolicyParser('fs: {}', 'p.yaml')).toBe(parsePolicyText);
  });
});
