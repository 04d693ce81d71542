import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fillHostSets } from '../../src/cli/host-sets.ts';
import type { NetRule } from '../../src/policy/policy.ts';

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'registries-'));
  mkdirSync(join(dir, 'bin'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** A tool of the host that answers with this text. */
function addTool(name: string, output: string): void {
  writeFileSync(join(dir, `answer-${name}`), output);
  const path = join(dir, 'bin', name);
  writeFileSync(
    path,
    `#!/bin/sh\necho "$PWD" >> ${dir}/asked-in\nexec cat ${dir}/answer-${name}\n`,
  );
  chmodSync(path, 0o755);
}

function askAll(texts: readonly string[], more: Record<string, string> = {}): NetRule[] {
  const at = { file: 'policy.yaml', line: 3, column: 5 };
  const net = texts.map((text): NetRule => ({
    effect: 'allow',
    text,
    origin: { source: 'policy.yaml:3:5', key: 'net.allow', text, at },
  }));
  // What is relative may be the workspace, and is left out.
  const env = { PATH: `bin:${join(dir, 'bin')}:/usr/bin:/bin`, ...more };
  return fillHostSets(net, { env, home: dir });
}

function ask(text: string, more?: Record<string, string>): readonly string[] | undefined {
  return askAll([text], more)[0]?.entries;
}

describe('fillHostSets()', () => {
  it('takes the registries of npm, those of scopes too, as npm tells them outside any project', () => {
    addTool(
      'npm',
      JSON.stringify({
        registry: 'https://Packages.example.org/npm/',
        '@corp:registry': 'http://corp.example.org:4873',
        'init-author-url': 'https://nobody.example.org',
      }),
    );
    expect(ask('npm')).toEqual(['corp.example.org:4873', 'packages.example.org:443']);
  });

  it('takes the indexes of pip', () => {
    addTool(
      'pip3',
      [
        "global.index-url='https://user:secret@index.example.org/simple'",
        "global.extra-index-url='https://one.example.org/a\\nhttps://[2001:db8::1]:8443/b'",
        "install.find-links='/var/wheels'",
        "global.timeout='60'",
      ].join('\n'),
    );
    expect(ask('pip')).toEqual([
      '[2001:db8::1]:8443',
      'index.example.org:443',
      'one.example.org:443',
    ]);
  });

  it('asks pip itself for the index that it falls back to', () => {
    addTool('pip3', "global.timeout='60'\n");
    addTool('python3', 'https://default.example.org/simple\nhttps://files.example.org\n');
    expect(ask('pip')).toEqual(['default.example.org:443', 'files.example.org:443']);
  });

  it("takes the registries of cargo's configuration and environment", () => {
    mkdirSync(join(dir, '.cargo'));
    writeFileSync(
      join(dir, '.cargo/config.toml'),
      [
        '[source.crates-io]',
        'replace-with = "mirror"',
        '[source.mirror] # ours',
        'registry = "sparse+https://mirror.example.org/index/"',
        '[registries.corp]',
        'index = "https://git.example.org/index"',
        '[http]',
        'index = "https://wrong.example.org"',
      ].join('\n'),
    );
    const env = { CARGO_REGISTRIES_EXTRA_INDEX: 'sparse+http://extra.example.org/' };
    expect(ask('cargo', env)).toEqual([
      'extra.example.org:80',
      'git.example.org:443',
      'mirror.example.org:443',
    ]);
  });

  it('asks once for several entries, and at the root, where no project has a say', () => {
    addTool('npm', '{"registry":"https://a.example.org"}');
    expect(askAll(['npm:443', 'npm']).map(({ entries }) => entries)).toEqual([
      ['a.example.org:443'],
      ['a.example.org:443'],
    ]);
    expect(readFileSync(join(dir, 'asked-in'), 'utf8')).toBe('/\n');
  });

  it('says at the entry what it cannot find out', () => {
    expect(() => ask('cargo')).toThrowError(
      expect.objectContaining({
        code: 'E_POLICY_LOAD_FAILED_UNENFORCEABLE',
        at: { file: 'policy.yaml', line: 3, column: 5 },
        hint: 'name the hosts of the registry instead of `cargo`',
      }),
    );
    addTool('npm', 'not json');
    expect(() => ask('npm')).toThrowError('npm names no registry');
  });

  it('leaves other entries as they are', () => {
    expect(ask('npm.')).toBeUndefined();
    expect(ask('github')).toBeUndefined();
  });
});
