import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderCompletion } from '../../src/cli/completion.ts';
import { COMMANDS } from '../../src/cli/grammar.ts';
import { PRESETS } from '../../src/policy/presets.ts';

const PRESET_NAMES = Object.keys(PRESETS);
const NAMES = { presets: PRESET_NAMES };
let directory: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'assay-completion-'));
  mkdirSync(join(directory, 'polished'));
  writeFileSync(join(directory, 'policy.yaml'), '');
  for (const shell of ['bash', 'zsh'] as const) {
    writeFileSync(join(directory, `script.${shell}`), renderCompletion(shell, NAMES));
  }
});

afterAll(() => {
  rmSync(directory, { recursive: true });
});

/** What bash offers after `words`; the last one is being typed. `=` is a word of its own, as readline cuts it. */
function complete(...words: string[]): string[] {
  const script = `
    source ./script.bash || exit 1
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
    _assay
    printf '%s\\n' "\${COMPREPLY[@]}"`;
  const args = ['--norc', '-c', script, 'bash', 'assay', ...words];
  const result = spawnSync('bash', args, { cwd: directory, encoding: 'utf8' });
  expect(result.stderr).toBe('');
  return result.stdout.split('\n').filter(Boolean).sort();
}

describe('in bash', () => {
  it('completes commands', () => {
    const first = new Set(Object.keys(COMMANDS).map((name) => name.split(' ', 1).join()));
    expect(complete('')).toEqual([...first].sort());
    expect(complete('sa')).toEqual(['sandbox']);
    expect(complete('policy', '')).toEqual(['check', 'explain', 'presets', 'schema', 'suggest']);
    expect(complete('policy', 'e')).toEqual(['explain']);
  });

  it('completes every flag of a command, and only its own', () => {
    const flags = Object.keys(COMMANDS.sandbox.flags).map((name) => `--${name}`);
    expect(complete('sandbox', '--')).toEqual([...flags, '--help'].sort());
    expect(complete('sandbox', '-q', '--env-s')).toEqual([
      '--env-safe-path',
      '--env-strict',
      '--env-strip-exec',
    ]);
    expect(complete('doctor', '--')).toEqual(['--apparmor', '--help', '--json']);
  });

  it('completes values by their kind', () => {
    expect(complete('sandbox', '--preset', '')).toEqual([...PRESET_NAMES].sort());
    expect(complete('sandbox', '--preset', '=', 'co')).toEqual(['coding-agent']);
    expect(complete('sandbox', '--preset', '=')).toEqual([...PRESET_NAMES].sort());
    expect(complete('policy', 'explain', '--op', '')).toEqual(['connect', 'exec', 'read', 'write']);
    expect(complete('sandbox', '--layers', 'land')).toEqual(['landlock']);
    expect(complete('sandbox', '--policy', 'pol')).toEqual(['policy.yaml', 'polished']);
    expect(complete('sandbox', '-p', 'pol')).toEqual(['policy.yaml', 'polished']);
    expect(complete('sandbox', '--workdir', 'pol')).toEqual(['polished']);
    expect(complete('policy', 'check', 'pol')).toEqual(['policy.yaml', 'polished']);
    expect(complete('completion', '')).toEqual(['bash', 'zsh']);
    expect(complete('sandbox', '--timeout', '')).toEqual([]);
  });

  it.each([[['sandbox']], [['sandbox', '--']], [['sandbox', '--policy', 'x', '-q', '--']]])(
    'completes the program after %j',
    (words) => {
      expect(complete(...words, 'bas')).toContain('bash');
      // The program has flags of its own.
      expect(complete(...words, 'ls', '--enf')).toEqual([]);
      expect(complete(...words, 'ls', 'pol')).toEqual(['policy.yaml', 'polished']);
    },
  );
});

describe('in zsh', () => {
  const hasZsh = spawnSync('zsh', ['--version']).status === 0;

  it.skipIf(!hasZsh)('is a script that zsh can read', () => {
    const result = spawnSync('zsh', ['-n', join(directory, 'script.zsh')], { encoding: 'utf8' });
    expect(result.stderr).toBe('');
    expect(result.status).toBe(0);
  });

  it('names every flag, preset and command', () => {
    const script = renderCompletion('zsh', NAMES);
    const flags = Object.values(COMMANDS).flatMap((command) => Object.keys(command.flags));
    for (const flag of flags) expect(script).toContain(`--${flag}`);
    for (const preset of PRESET_NAMES) expect(script).toContain(preset);
    expect(script.startsWith('#compdef assay\n')).toBe(true);
  });
});
