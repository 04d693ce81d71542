import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makePackDetector } from '../../../src/evidence/lint/pack-detector.ts';
import { readPack } from '../../../src/evidence/lint/read-pack.ts';
import { type Draft, lintEvents, type LintOptions, started } from './lint-events.ts';
import { watchProcessor } from '../../processor-time.ts';

const HEAD = `
name: p
version: 1.0.0
kind: quality
description: d
author: a
license: MIT
requires:
  assay_min_version: ">=2.10.0"
`;

function makePack(check: string, rest = '', head = HEAD): string {
  return `${head}rules:
  - id: P-1
    severity: error
    description: d
    check: ${check}
${rest}`;
}

interface Verdict {
  readonly message: string;
  readonly severity: string;
  readonly line: number | undefined;
}

function tryPack(text: string, events: readonly Draft[], options: LintOptions = {}): Verdict[] {
  return lintEvents(events, { ...options, packs: [text] })
    .findings.filter(({ rule }) => rule.pack === 'p@1.0.0')
    .map(({ message, severity, examples }) => ({
      message,
      severity,
      line: examples[0]?.at?.line,
    }));
}

const DECISION = {
  principal: 'ada',
  auth_scheme: 'OAuth2 ',
  auth_issuer: 'https://issuer.example',
};
const decide = (data: object): Draft => ({ type: 'assay.tool.decision', data });

describe('a check of a pack', () => {
  it.each<[string, string, readonly Draft[], readonly Draft[]]>([
    ['event_count', '{ type: event_count, min: 2 }', [started(), started()], [started()]],
    [
      'event_pairs',
      '{ type: event_pairs, start_pattern: "*.started", finish_pattern: "*.finished" }',
      [{ type: 'a.b.started' }, { type: 'c.finished' }],
      [{ type: 'a.b.started' }, { type: 'c.finished.x' }],
    ],
    [
      'event_type_exists',
      '{ type: event_type_exists, pattern: "assay.{fs,net}.[ac]*" }',
      [{ type: 'assay.net.connect' }],
      [{ type: 'assay.net.bind' }, { type: 'assay.process.access' }],
    ],
    [
      'event_field_present',
      '{ type: event_field_present, paths_any_of: [/data/a~1b, /data/c] }',
      [{ type: 'x', data: { 'a/b': null } }],
      [{ type: 'x', data: { a: { b: 1 } } }],
    ],
    [
      'event_field_present with names, in data',
      '{ type: event_field_present, any_of: [run_id], in_data: true }',
      [{ type: 'x', data: { run_id: 1 } }],
      [{ type: 'x', data: {} }],
    ],
    [
      'event_field_present with names',
      '{ type: event_field_present, any_of: [subject] }',
      [{ type: 'x', subject: '' }],
      [{ type: 'x', data: { subject: 1 } }],
    ],
    [
      'json_path_exists',
      '{ type: json_path_exists, paths: [/data/list/1] }',
      [{ type: 'x', data: { list: [1, null] } }],
      [{ type: 'x', data: { list: [1] } }],
    ],
    [
      'json_path_exists with a value',
      '{ type: json_path_exists, paths: [/data/x], value_equals: true }',
      [{ type: 'x', data: { x: true } }],
      [{ type: 'x', data: { x: 'true' } }],
    ],
    [
      'json_path_exists with a value that has parts',
      '{ type: json_path_exists, paths: [/data/x], value_equals: { b: [1], a: null } }',
      [{ type: 'x', data: { x: { a: null, b: [1] } } }],
      [{ type: 'x', data: { x: { a: null, b: [2] } } }],
    ],
    [
      'conditional',
      '{ type: conditional, condition: { all: [{ path: /data/d, equals: allow }] }, then: { type: json_path_exists, paths: [/data/m] } }',
      [decide({ d: 'allow', m: 1 }), decide({ d: 'deny' })],
      [decide({ d: 'allow', m: 1 }), decide({ d: 'allow' })],
    ],
    [
      'manifest_field',
      '{ type: manifest_field, path: /sandbox/policy/digest, required: true }',
      [],
      [],
    ],
    [
      'g3_authorization_context_present',
      '{ type: g3_authorization_context_present }',
      [decide(DECISION)],
      [
        decide({ ...DECISION, principal: 'Bearer x' }),
        decide({ ...DECISION, auth_issuer: 'eyJhbGc.eyJzdWI.c2lnbg' }),
        decide({ ...DECISION, auth_scheme: 'basic' }),
        decide({ ...DECISION, auth_issuer: 'x'.repeat(2049) }),
        { type: 'assay.tool.call', data: DECISION },
      ],
    ],
  ])('%s passes and fails', (name, check, good, bad) => {
    const pack = makePack(check);
    const isAboutManifest = name === 'manifest_field';
    expect(tryPack(pack, good)).toEqual([]);
    expect(tryPack(pack, bad, { isSandbox: !isAboutManifest })).toHaveLength(1);
  });

  it('looks only at events of its types', () => {
    const pack = makePack('{ type: event_count, min: 1 }', '    event_types: [b]\n');
    expect(tryPack(pack, [{ type: 'a' }])).toHaveLength(1);
    expect(tryPack(pack, [{ type: 'b' }])).toEqual([]);
  });

  it('says at which event a condition first failed, and how often', () => {
    const pack = makePack(
      '{ type: conditional, condition: { all: [{ path: /data/d, equals: 1 }] }, then: { type: json_path_exists, paths: [/data/m] } }',
    );
    const events = [decide({ d: 2 }), decide({ d: 1 }), decide({ d: 1, m: 1 }), decide({ d: 1 })];
    expect(tryPack(pack, events)).toMatchObject([
      { message: '2 of 3 events that meet the condition have no /data/m' },
    ]);
  });

  it('about a field of the manifest that is not required is a warning', () => {
    const pack = makePack('{ type: manifest_field, path: /nothing }');
    expect(tryPack(pack, [])).toMatchObject([{ severity: 'warning' }]);
  });

  it.each([
    ['is not known', '{ type: reference_exists, what: ever }', ''],
    ['is of a newer engine', '{ type: event_count, min: 100 }', '    engine_min_version: "1.3"\n'],
    [
      'is a condition of another form',
      '{ type: conditional, condition: { any: [] }, then: { type: event_count } }',
      '',
    ],
  ])('that %s is left out, and fails in a pack about compliance', (_, check, rest) => {
    expect(tryPack(makePack(check, rest), [])).toEqual([]);
    const text = makePack(check, rest);
    expect(makePackDetector(readPack(text, 'p')).linted.skipped).toHaveLength(1);
    const strict = text.replace('kind: quality', 'kind: compliance\ndisclaimer: none');
    expect(tryPack(strict, [])).toMatchObject([
      { message: expect.stringMatching(/^Cannot be checked/) as string },
    ]);
  });

  it('takes time that grows no faster than pattern and type', () => {
    const pattern = 'a*'.repeat(100) + 'b';
    const pack = makePack(`{ type: event_type_exists, pattern: "${pattern}" }`);
    const spentMs = watchProcessor();
    expect(tryPack(pack, [{ type: 'a'.repeat(5000) }])).toHaveLength(1);
    expect(spentMs()).toBeLessThan(2000);
  });
});

describe('readPack()', () => {
  it.each<[string, string, string, number]>([
    ['what is no YAML', 'name: [', 'Cannot use the rule pack', 1],
    ['an alias', 'name: &a x\nversion: *a\n', 'alias', 2],
    ['a list', '- a\n', 'the pack has to be a map', 1],
    [
      'an unknown field',
      makePack('{ type: event_count, min: 1 }').replace('author', 'autor'),
      'has no field `autor`',
      6,
    ],
    [
      'an unknown field of requires',
      HEAD.replace('assay_min_version', 'assay_version') + 'rules: []',
      'the pack.requires has no',
      9,
    ],
    [
      'an unknown field of a rule',
      makePack('{ type: event_count, min: 1 }', '    sevrity: x\n'),
      'the rule has no field `sevrity`',
      15,
    ],
    [
      'an unknown field of a check',
      makePack('{ type: event_count, min: 1, max: 2 }'),
      'has no field `max`',
      14,
    ],
    [
      'a field that is there twice',
      makePack('{ type: event_count, min: 1, min: 2 }'),
      '`min` is there twice',
      14,
    ],
    [
      'a name with a slash',
      makePack('{ type: event_count, min: 1 }').replace('name: p', 'name: ../p'),
      '`../p` is not a name',
      2,
    ],
    ['no rules', `${HEAD}rules: []\n`, 'rules has to be a list', 10],
    [
      'a count of 0',
      makePack('{ type: event_count, min: 0 }'),
      'min has to be a whole number above 0',
      14,
    ],
    [
      'a severity of its own',
      makePack('{ type: event_count, min: 1 }').replace('severity: error', 'severity: fatal'),
      '`fatal` is not a severity',
      12,
    ],
    [
      'two rules of one id',
      makePack(
        '{ type: event_count, min: 1 }',
        '  - { id: P-1, severity: info, description: d, check: { type: event_count, min: 1 } }\n',
      ),
      'two rules have the id P-1',
      11,
    ],
    [
      'compliance without a disclaimer',
      makePack('{ type: event_count, min: 1 }').replace('quality', 'compliance'),
      'needs a disclaimer',
      4,
    ],
    [
      'what needs a later release',
      makePack('{ type: event_count, min: 1 }').replace('2.10.0', '6.0.0'),
      'the pack needs >=6.0.0',
      9,
    ],
    [
      'a pattern that is never closed',
      makePack('{ type: event_type_exists, pattern: "a[b" }'),
      'a [ is never closed',
      14,
    ],
    [
      'a pattern that is too long',
      makePack(`{ type: event_type_exists, pattern: "${'a'.repeat(257)}" }`),
      'no longer than 256',
      14,
    ],
    [
      'a pattern of too many alternatives',
      makePack(`{ type: event_type_exists, pattern: "${'{a,b}'.repeat(8)}" }`),
      'more than 64',
      14,
    ],
    [
      'several paths with one value',
      makePack('{ type: json_path_exists, paths: [/a, /b], value_equals: 1 }'),
      'exactly one path',
      14,
    ],
    ['what is far too long', `${HEAD}${'# x\n'.repeat(70_000)}`, 'no longer than', 1],
  ])('refuses %s', (_, text, message, line) => {
    let error: unknown;
    try {
      readPack(text, 'pack.yaml');
    } catch (caught) {
      error = caught;
    }
    expect(error).toMatchObject({
      code: 'E_PACK_INVALID',
      exitCode: 2,
      message: expect.stringContaining(message) as string,
      at: { file: 'pack.yaml', line },
    });
  });

  it('reads the example', () => {
    const file = join(import.meta.dirname, '../../../examples/packs/kept-evidence.yaml');
    const pack = readPack(readFileSync(file, 'utf8'), file);
    expect(pack).toMatchObject({ name: 'kept-evidence', rules: { length: 4 } });
    expect(makePackDetector(pack).linted.skipped).toEqual([]);
  });
});
