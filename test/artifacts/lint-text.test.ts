import { describe, expect, it } from 'vitest';
import { renderLintJson } from '../../src/artifacts/lint-json.ts';
import { renderLintText, renderRuleText } from '../../src/artifacts/lint-text.ts';
import { OWN_RULES } from '../../src/evidence/lint/rules.ts';
import { coverage, fs, lintEvents, net } from '../evidence/lint/lint-events.ts';

const HOSTILE = 'a\u001b[2Jb\nerror ASSAY-X\u202e\u0007';

const PACK = `
name: p
version: 1.0.0
kind: quality
description: d
author: a
license: MIT
requires: { assay_min_version: ">=1.0.0" }
rules:
  - id: P-1
    severity: warning
    description: wants many
    check: { type: event_count, min: 1000000 }
  - id: P-2
    severity: warning
    description: from the future
    check: { type: time_travel }
`;

describe('renderLintText()', () => {
  it('groups by rule, the gravest first, with examples, counts and what to do', () => {
    const writes = [1, 2, 3, 4, 5].map((at) => fs('create', `/srv/a/${at}`));
    const result = lintEvents([...writes, fs('create', '${CWD}/.vscode/x'), coverage('complete')]);
    expect(renderLintText(result).split('\n')).toEqual([
      'run.bundle.tar.gz: 1 error, 1 warning',
      'Run sandbox_0123456789abcdef, 1 event, intact',
      '',
      'error   ASSAY-CTL-001  Wrote configuration that runs later',
      '  write .vscode',
      '    ${CWD}/.vscode/x  create by /usr/bin/sh  (line 6)',
      expect.stringMatching(/^ {2}Fix: Read what was written/),
      '',
      'warning ASSAY-CTL-008  Wrote outside the workspace',
      '  write /srv/a (5)',
      '    /srv/a/1  create by /usr/bin/sh  (line 1)',
      '    /srv/a/2  create by /usr/bin/sh  (line 2)',
      '    /srv/a/3  create by /usr/bin/sh  (line 3)',
      '    … and 2 more',
      expect.stringMatching(/^ {2}Fix: /),
      '',
    ]);
  });

  it('says that there is nothing', () => {
    expect(renderLintText(lintEvents([coverage('complete')]))).toMatch(/: no findings\n/);
  });

  it('lists packs apart from the rules of ours, and what was not checked', () => {
    const text = renderLintText(lintEvents([coverage('complete')], { packs: [PACK] }));
    expect(text).toContain("── assay's own rules: no findings");
    expect(text).toContain('── pack p@1.0.0: 1 warning');
    expect(text).toContain('Not checked: P-2: the check time_travel is not known');
  });

  it('lets no name break a line or drive the terminal', () => {
    const events = [fs('read', `\${HOME}/.ssh/${HOSTILE}`), net(`tcp:${HOSTILE}:1`)];
    const text = renderLintText(lintEvents(events, { file: HOSTILE }));
    // oxlint-disable-next-line no-control-regex -- none may be there
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
    expect(text).not.toMatch(/^error ASSAY-X/m);
  });
});

describe('renderRuleText()', () => {
  it.each(OWN_RULES.map((rule) => [rule.id, rule] as const))('explains %s', (id, rule) => {
    const text = renderRuleText(rule);
    expect(text).toContain(id);
    expect(text).toContain(rule.explanation);
    expect(text).toContain(`Fix: ${rule.fix}`);
  });
});

describe('renderLintJson()', () => {
  it('has a summary for each pack, and for all of them', () => {
    const result = lintEvents([fs('create', '/srv/a/x'), coverage('complete')], {
      packs: [PACK],
      maxResults: 1,
    });
    expect(JSON.parse(renderLintJson(result))).toMatchObject({
      schema: 'assay.lint.v1',
      verified: true,
      bundle_meta: { kind: 'sandbox', run_id: 'sandbox_0123456789abcdef' },
      packs: [
        {
          id: 'assay',
          rule_count: OWN_RULES.length,
          summary: { total: 1, warnings: 1 },
          skipped: [],
        },
        {
          id: 'p@1.0.0',
          rule_count: 2,
          summary: { total: 1, warnings: 1 },
          skipped: [{ id: 'P-2' }],
        },
      ],
      findings: [
        {
          rule_id: 'ASSAY-CTL-008',
          pack: 'assay',
          severity: 'warning',
          place: '/srv/a',
          op: 'write',
          count: 1,
          location: { seq: 0, line: 1, event_type: 'assay.sandbox.fs' },
          examples: [{ subject: '/srv/a/x', detail: 'create by /usr/bin/sh' }],
        },
      ],
      summary: { total: 2, errors: 0, warnings: 2, infos: 0 },
      truncated: true,
      truncated_count: 1,
      applied_cap: 1,
      fail_on: 'error',
      failed: false,
    });
  });

  it('keeps hostile names as they are, in valid JSON', () => {
    const text = renderLintJson(lintEvents([fs('create', `/srv/a/${HOSTILE}`)]));
    expect(JSON.parse(text)).toMatchObject({
      findings: expect.arrayContaining([
        expect.objectContaining({
          examples: [expect.objectContaining({ subject: `/srv/a/${HOSTILE}` })],
        }),
      ]) as unknown,
    });
  });
});
