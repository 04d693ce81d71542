import { describe, expect, it } from 'vitest';
import { writeDiffJson } from '../../src/artifacts/diff-json.ts';
import { writeDiffMarkdown } from '../../src/artifacts/diff-markdown.ts';
import { writeDiffText } from '../../src/artifacts/diff-text.ts';
import { applyGate } from '../../src/evidence/diff/gate.ts';
import {
  change,
  compareDrafts,
  coverage,
  environment,
  file,
  finished,
  layers,
  network,
  policy,
  program,
  started,
  WATCHED,
} from '../evidence/diff/make-sides.ts';
import { watchProcessor } from '../processor-time.ts';

/** What could end a line, a code span, a cell or a tag, call somebody, or lead somewhere. */
const HOSTILE = [
  'esc\u001b[2Jape',
  'csi\u009b31m',
  'new\nline',
  'back`tick``s```',
  '`',
  'bar|\\|bar',
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '-->',
  '@everyone',
  '#1',
  '[link](https://example.com)',
  '![image](https://example.com/x.png)',
  'https://example.com',
  '\u202egpj.exe',
  '\u2028para',
  '\u0000nul',
];

const hostile = compareDrafts(
  [WATCHED, ...HOSTILE.map((name) => file('write', `\${CWD}/gone${name}`))],
  [
    WATCHED,
    ...HOSTILE.flatMap((name) => [
      file('write', `\${CWD}/${name}`),
      file('rename', `/${name}`, { target: name, program: name }),
      file('read', `/r${name}`, { outcome: name, refused_by: name }),
      program(`/p${name}`, { target: name, program: name, digest: name }),
      network('connect', `tcp:${name}:1`, { outcome: name }),
      { type: `x.${name}`, subject: name, data: name },
    ]),
    environment(HOSTILE),
    layers(Object.fromEntries(HOSTILE.map((name) => [name, name]))),
    policy({ [HOSTILE[1] ?? '']: HOSTILE }, 'digest'),
    started({ command: HOSTILE, mode: HOSTILE[0] }),
    coverage({ [HOSTILE[2] ?? '']: HOSTILE[3] ?? '' }, HOSTILE[6]),
  ],
);
const UNPRINTABLE =
  // oxlint-disable-next-line no-control-regex -- they are what is looked for
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

/** The text without its code spans, as CommonMark reads them. */
function stripSpans(markdown: string): string {
  return markdown
    .split('\n')
    .map((line) => line.replace(/(?<!`)(`+)(?!`)(.*?)(?<!`)\1(?!`)/g, ''))
    .join('\n');
}

describe('names that want to be more than names', () => {
  it('stay on their line and print nothing in the text', () => {
    const text = writeDiffText(hostile, undefined);
    expect(text).not.toMatch(UNPRINTABLE);
    expect(text).toContain('\\u001b[2J');
    expect(text.split('\n').filter((line) => line.startsWith('line'))).toEqual([]);
  });

  it('come back as they were from the JSON, which holds none of them raw', () => {
    const text = [...writeDiffJson(hostile, undefined)].join('');
    expect(text).not.toMatch(UNPRINTABLE);
    const { differences } = JSON.parse(text) as { differences: { subject: string }[] };
    const subjects = differences.map(({ subject }) => subject);
    for (const name of HOSTILE) expect(subjects).toContain(`\${CWD}/${name}`);
  });

  it('are nothing but code in Markdown', () => {
    const text = writeDiffMarkdown(hostile, undefined);
    expect(text).not.toMatch(UNPRINTABLE);
    const bare = stripSpans(text);
    for (const mark of ['`', '<', '@', '](', 'https:', 'alert', '#1', '-->'])
      expect(bare).not.toContain(mark);
    // Each line is a heading, a list entry or a sentence of ours.
    for (const line of bare.split('\n'))
      expect(line).toMatch(/^(?:|#{2,3} .*|- .*|\*\*\d+ differences\.\*\*|Not everything .*)$/);
  });
});

describe('the text', () => {
  it('has the dangerous first', () => {
    const comparison = compareDrafts(
      [WATCHED, finished()],
      [
        finished({ exit_code: 1 }),
        coverage(
          {
            reads: 'partial',
            changes: 'complete',
            programs: 'complete',
            network: 'complete',
            environment: 'complete',
          },
          'lost',
        ),
        file('write', '${CWD}/a'),
        file('read', '/s', { outcome: 'EACCES', refused_by: '' }),
        program('/usr/bin/curl'),
        file('write', '${CWD}/.vscode/tasks.json'),
        file('write', '/srv/a'),
        network('connect', 'tcp:192.0.2.1:1'),
      ],
    );
    const titles = writeDiffText(comparison, undefined).match(/^(?:! )?[A-Z].* \(\d+\)$/gm);
    expect(titles).toEqual([
      '! New egress (1)',
      '! New writes outside the workspace (1)',
      '! New writes to protected configuration (1)',
      '! New programs (1)',
      '! New denials (1)',
      '! Coverage lost (1)',
      'End (1)',
      'Files (1)',
    ]);
  });

  it('folds a directory, and what is too long, with counts', () => {
    const many = (count: number, of: string): string[] =>
      Array.from({ length: count }, (_, at) => `${of}${String(at).padStart(5, '0')}`);
    const folded = compareDrafts(
      [],
      many(5000, '${CWD}/dist/').map((path) => file('write', path)),
    );
    expect(writeDiffText(folded, undefined)).toContain('+ ${CWD}/dist/ (5000 files)  write by');
    const long = compareDrafts(
      [],
      many(100, '${CWD}/d').map((path) => file('write', `${path}/a`)),
    );
    const text = writeDiffText(long, undefined);
    expect(text).toContain('… and 75 more');
    expect(text.split('\n').length).toBeLessThan(40);
  });

  it('says what changed about a subject', () => {
    const comparison = compareDrafts(
      [
        file('read', '${CWD}/a', { outcome: 'ENOENT' }),
        file('read', '${CWD}/b'),
        program('${CWD}/t', { digest: 'aa' }),
      ],
      [file('read', '${CWD}/a'), file('write', '${CWD}/b'), program('${CWD}/t', { digest: 'bb' })],
    );
    const text = writeDiffText(comparison, undefined);
    expect(text).toContain('~ ${CWD}/a  read by /usr/bin/sh, was ENOENT\n');
    expect(text).toContain('~ ${CWD}/b  now write by /usr/bin/sh; no longer read by /usr/bin/sh\n');
    expect(text).toContain('~ ${CWD}/t  run by assay (sha256 bb…), was sha256 aa…\n');
  });

  it('says when run roots differ in what is not compared', () => {
    const comparison = compareDrafts(
      [started({ version: '0.1.0' })],
      [started({ version: '0.10.0' })],
    );
    expect(writeDiffText(comparison, undefined)).toContain('No differences in what is compared');
  });
});

describe('the Markdown', () => {
  it('fits into a comment, whatever there is', () => {
    const long = 'x'.repeat(2000);
    const events = Array.from({ length: 3000 }, (_, at) => [
      file('write', `/${at}/${long}`, { target: `${long}${at}` }),
      program(`/bin/${at}${long}`, { program: long }),
      network('connect', `tcp:${at}:${long}`),
      change('created', `/c/${at}/${long}`),
    ]).flat();
    const text = writeDiffMarkdown(compareDrafts([], events), undefined);
    expect(text.length).toBeLessThan(65_536);
    expect(text).toContain('⚠️ New egress (3000)');
  });

  it('says how the gate went without repeating what a bundle says', () => {
    const odd = coverage({ network: '<b>@all' });
    const comparison = compareDrafts([odd], [odd]);
    expect(applyGate(comparison, ['new-host']).warnings).toEqual([
      'the coverage of network is not known',
    ]);
  });

  it('says how the gate went', () => {
    const comparison = compareDrafts([WATCHED], [WATCHED, program('/usr/bin/curl')]);
    expect(writeDiffMarkdown(comparison, applyGate(comparison, ['new-program']))).toContain(
      '**1 difference.** Gate failed: new-program (1).',
    );
    expect(writeDiffMarkdown(comparison, applyGate(comparison, ['new-host']))).toContain(
      'Gate passed: no new-host.',
    );
  });
});

describe('the JSON', () => {
  it('is the same text for the same bundles, whatever order their events have', () => {
    const events = [
      WATCHED,
      program('/b'),
      program('/a'),
      file('write', '/x'),
      network('connect', 'tcp:h:1'),
    ];
    const write = (after: typeof events): string =>
      [...writeDiffJson(compareDrafts([WATCHED], after), undefined)]
        .join('')
        .replaceAll(/"time_range": \[[^\]]*\]/g, '');
    expect(write(events)).toBe(write(events.toReversed()));
  });
});

describe('a comparison of many things about one subject', () => {
  it('takes no longer for each when there are more', () => {
    const many = (of: string): ReturnType<typeof file>[] =>
      Array.from({ length: 30_000 }, (_, at) => [
        file('rename', '${CWD}/a', { target: `/${of}${at}` }),
        { type: 'x.y', subject: `${of}${at}`, data: `${of}${at}` },
      ]).flat();
    const reasons = Array.from({ length: 30_000 }, (_, at) => `r${at}`);
    const gaps = {
      type: 'assay.sandbox.coverage',
      data: { surfaces: { network: { status: 'partial', reasons } } },
    };
    const spentMs = watchProcessor();
    const comparison = compareDrafts([...many('a'), gaps], [...many('b'), gaps]);
    expect(comparison.differences).toHaveLength(2);
    expect(writeDiffText(comparison, undefined).length).toBeLessThan(10_000);
    expect(writeDiffMarkdown(comparison, undefined).length).toBeLessThan(10_000);
    expect(spentMs()).toBeLessThan(20_000);
  });
});
