import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { COMMANDS } from '../src/cli/grammar.ts';
import { VERSION } from '../src/cli/version.ts';
import { ERROR_CODES } from '../src/core/errors.ts';
import { LAYERS } from '../src/plan/plan.ts';
import { PRESETS } from '../src/policy/presets.ts';
import { PROTECTED_CONFIG } from '../src/policy/protected-config.ts';
import { POLICY_SHAPE } from '../src/policy/schema.ts';

const ROOT = join(import.meta.dirname, '..');
const ASSAY = join(ROOT, 'bin/assay.js');

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

const PAGES = [
  ...readdirSync(ROOT).filter((name) => name.endsWith('.md')),
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];
const EXAMPLES = readdirSync(join(ROOT, 'examples')).filter((name) => name.endsWith('.yaml'));

describe('the version', () => {
  it('is the same in package.json, the program and the change log', () => {
    const { version } = JSON.parse(read('package.json')) as { version: string };
    expect(VERSION).toBe(version);
    expect(read('CHANGELOG.md')).toContain(`## ${version}`);
  });
});

describe('docs/errors.md', () => {
  const headings = Array.from(
    read('docs/errors.md').matchAll(/^## (E_\w+) \(exit (\d)\)$/gm),
    (found) => [found[1], Number(found[2])],
  );

  it('explains every error code under its exit code, and no other', () => {
    expect(Object.fromEntries(headings)).toEqual(ERROR_CODES);
  });
});

describe.each(['README.md', 'SECURITY.md', 'docs/coding-agents.md'])('%s', (page) => {
  it.each([
    /is not VM-level isolation: [^.]*kernel of the host\. Run [^.]* in a microVM or gVisor, and (use )?assay for (the )?record and (the )?gate on top\./,
    /does not prevent prompt injection\b/,
    /record is what was observed, not a proof of intent\./,
    /refused path may answer `ENOENT` or `EROFS` instead of `EACCES`, since it is not there inside\b/,
  ])('says what a user must not believe: %s', (sentence) => {
    expect(read(page)).toMatch(sentence);
  });
});

describe('the documents', () => {
  it('name every flag', () => {
    const text = PAGES.map(read).join('\n');
    const flags = Object.values(COMMANDS).flatMap(({ flags: own }) => Object.keys(own));
    expect([...new Set(flags)].filter((flag) => !text.includes(`--${flag}`))).toEqual([]);
  });

  it('name no flag that does not exist', () => {
    const known = new Set<string>(
      Object.values(COMMANDS).flatMap(({ flags }) => Object.keys(flags)),
    );
    for (const universal of ['help', 'version']) known.add(universal);
    const wrong = PAGES.flatMap((page) =>
      Array.from(
        read(page).matchAll(/\bassay [a-z]+(?: [a-z]+)?(?: [^`|\n]*?)? --([a-z][a-z-]+)/g),
        (found) => found[1] ?? '',
      )
        .filter((flag) => !known.has(flag))
        .map((flag) => `${page}: --${flag}`),
    );
    expect(wrong).toEqual([]);
  });

  it('name every layer in docs/layers.md', () => {
    const text = read('docs/layers.md');
    expect(LAYERS.filter((layer) => !text.includes(`| \`${layer}\``))).toEqual([]);
  });

  it('name every key of a policy and every preset in docs/policy.md', () => {
    const text = read('docs/policy.md');
    const keys = Object.entries(POLICY_SHAPE.keys).flatMap(([key, shape]) =>
      shape.kind === 'map' ? Object.keys(shape.keys).map((inner) => `${key}.${inner}`) : [key],
    );
    expect(keys.length).toBeGreaterThan(20);
    expect(
      [...keys, ...Object.keys(PRESETS)].filter((name) => !text.includes(`\`${name}\``)),
    ).toEqual([]);
  });

  it('name every protected file in docs/configuration-protection.md', () => {
    const text = read('docs/configuration-protection.md');
    expect(PROTECTED_CONFIG.filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
  });

  it('link only to what exists', () => {
    const wrong = PAGES.flatMap((page) =>
      Array.from(read(page).matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g), (found) => found[1] ?? '')
        .filter(
          (target) => !/^https?:/.test(target) && !existsSync(join(ROOT, dirname(page), target)),
        )
        .map((target) => `${page}: ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  it('show only commands that exist', () => {
    const names: readonly string[] = Object.keys(COMMANDS);
    const code = (text: string): string[] => [
      ...Array.from(text.matchAll(/^```\w*\n([\s\S]*?)^```/gm), (found) => found[1] ?? ''),
      ...Array.from(text.matchAll(/`([^`\n]+)`/g), (found) => found[1] ?? ''),
    ];
    const wrong = PAGES.flatMap((page) =>
      code(read(page))
        .flatMap((text) =>
          Array.from(
            text.matchAll(/^(?:\.\/bin\/)?assay(?:\.js)? ((?:(?:policy|evidence) )?[a-z]+)\b/gm),
          ),
        )
        .map((found) => found[1] ?? '')
        .filter((name) => !names.includes(name))
        .map((name) => `${page}: assay ${name}`),
    );
    expect(wrong).toEqual([]);
  });

  it('name only files that exist', () => {
    const wrong = PAGES.flatMap((page) =>
      Array.from(read(page).matchAll(/`((?:src|test|native|scripts|schemas|examples)\/[\w./-]*)`/g))
        .map((found) => found[1] ?? '')
        .filter((path) => !existsSync(join(ROOT, path)))
        .map((path) => `${page}: ${path}`),
    );
    expect(wrong).toEqual([]);
  });

  it('are reached from README.md or from a page that is', () => {
    const seen = new Set(['README.md']);
    for (const page of seen)
      for (const [, target = ''] of read(page).matchAll(/\]\(([^)#\s]+\.md)/g))
        if (!target.startsWith('http')) seen.add(join(dirname(page), target));
    expect(PAGES.filter((page) => !seen.has(page))).toEqual([]);
  });
});

describe('the examples', () => {
  it.each(EXAMPLES)('%s is a good policy whose own examples hold', (name) => {
    const { status, stderr } = spawnSync(ASSAY, ['policy', 'check', join(ROOT, 'examples', name)], {
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });
});
