import { describe, expect, it } from 'vitest';
import { makeReport, makeVerdict } from '../../src/artifacts/report-markdown.ts';
import { makeEvidence } from '../../src/evidence/profile.ts';
import type { RunRecord } from '../../src/evidence/run-record.ts';
import { resolvePolicy } from '../../src/policy/combine.ts';
import { OPTIONS, sampleProgram, sampleRecord } from '../evidence/sample-record.ts';

type Sample = NonNullable<Parameters<typeof sampleRecord>[0]>;

const WORK = '/home/ada/work';

function report(events: Sample, more: Partial<RunRecord> = {}): string {
  const record = sampleRecord(events, more);
  const policy = resolvePolicy({ preset: 'mcp-server-minimal', variables: record.variables });
  return makeReport(makeEvidence(record, { ...OPTIONS, policy }));
}

describe('makeReport()', () => {
  it('starts with a verdict of one sentence', () => {
    const [title, , verdict] = report([]).split('\n');
    expect(title).toBe('# Run report');
    expect(verdict).toBe(
      '**The boundary held; no file was changed; 0 attempts were refused; the command exited with code 0.**',
    );
  });

  it.each([
    [{ mode: 'dry-run' }, 'A dry run: nothing was enforced'],
    [{ network: 'host' }, 'Not everything was enforced'],
    [{ end: { timed_out: true } }, 'the command was ended by its time limit'],
    [{ end: { signal: 9 } }, 'the command was ended by signal 9'],
    [{ end: { exec_error: 'ENOENT' } }, 'the command could not be run (ENOENT)'],
  ])('says so of %j', (more, words) => {
    const evidence = makeEvidence(
      sampleRecord([], { mode: 'containment', ...more, end: sampleRecord().end } as never),
      OPTIONS,
    );
    const end = { ...evidence.end, ...('end' in more ? more.end : {}) };
    expect(makeVerdict({ ...evidence, end })).toContain(words);
  });

  it('does not claim that nothing was changed where nobody looked', () => {
    const { coverage } = sampleRecord();
    const changes = { status: 'absent', reasons: ['--observe none'] } as const;
    expect(report([], { coverage: { ...coverage, changes } })).toContain(
      'changes were not watched',
    );
  });

  it('names the rule of a refusal and what would change it', () => {
    const text = report([
      {
        kind: 'file',
        op: 'write',
        path: `${WORK}/x`,
        outcome: 'EACCES',
        decision: { rule: null, layer: 'kernel' },
      } as Sample[number],
      {
        kind: 'file',
        op: 'read',
        path: '/home/ada/.ssh/id_rsa',
        outcome: 'EACCES',
        decision: { rule: 'preset mcp-server-minimal fs.deny: ~/.ssh', layer: 'broker' },
      } as Sample[number],
    ]);
    expect(text).toContain('nothing allows it');
    expect(text).toContain('`allow it with --allow-write ./x`');
    expect(text).toContain('`preset mcp-server-minimal fs.deny: ~/.ssh`');
    expect(text).toContain('`take out fs.deny: ~/.ssh to allow it`');
  });

  it('draws programs as a tree, and circles once', () => {
    const text = report([], {
      programs: [
        sampleProgram({ id: 1, image: '/usr/bin/dash' }),
        sampleProgram({ id: 2, parent: 1, image: '/usr/bin/make', count: 3 }),
        sampleProgram({ id: 3, parent: 2, image: '/usr/bin/dash' }),
      ],
    });
    expect(text).toContain(
      [
        '- `/usr/bin/dash` (started 2 times)',
        '  - `/usr/bin/make` (started 3 times)',
        '    - `/usr/bin/dash` (started 2 times) (see above)',
      ].join('\n'),
    );
  });

  it('lists changed files by directory', () => {
    const text = report([
      { kind: 'file', op: 'create', path: `${WORK}/src/a` },
      { kind: 'file', op: 'unlink', path: `${WORK}/src/b` },
    ] as Sample);
    expect(text).toContain('- `${CWD}/src`\n  - created: `a`\n  - removed: `b`');
  });

  it('lets no name forge a line, a link, a cell or an end of code', () => {
    const names = [
      'x\n## Controls\nheld',
      '[click](https://evil.example)',
      'a | b | c',
      '`` ` ``',
      '<img src=x onerror=alert(1)>',
      '\u202egnp.exe',
      '\u001b[31mred',
      '**bold**',
    ];
    const text = report(
      names.flatMap((name) => [
        { kind: 'file', op: 'create', path: `${WORK}/${name}/f` },
        {
          kind: 'file',
          op: 'read',
          path: `${WORK}/${name}`,
          outcome: 'EACCES',
          decision: { rule: `x: ${name}`, layer: 'broker' },
        },
      ]) as Sample,
      { programs: names.map((image, index) => sampleProgram({ id: index + 1, image })) },
    );
    expect(text.match(/^## Controls$/gm)).toHaveLength(1);
    // oxlint-disable-next-line no-control-regex
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202a-\u202e]/);
    // Outside code spans nothing of it is left.
    const bare = text.replaceAll(/(`+)(?!`)[^\n]*?[^`]\1(?!`)/g, '');
    for (const sign of ['](', '<img', '**bold', '\\u001b']) expect(bare).not.toContain(sign);
    for (const line of text.split('\n').filter((one) => one.startsWith('| read |')))
      expect(line.replaceAll('\\|', '').split('|')).toHaveLength(8);
  });

  it('says what it does not know', () => {
    const { coverage } = sampleRecord();
    const reads = { status: 'absent', reasons: ['--observe effects'] } as const;
    const text = report([], { level: 'effects', coverage: { ...coverage, reads } });
    expect(text).toContain('| reads | absent | `--observe effects` |');
    expect(text).toContain('- Reads were not watched.');
  });

  it('ends with what it can be identified by', () => {
    const evidence = makeEvidence(sampleRecord(), OPTIONS);
    const text = makeReport(evidence);
    for (const one of [evidence.run_ids[0] ?? '', evidence.digest, evidence.run.digest])
      expect(text).toContain(`\`${one}\``);
  });
});
