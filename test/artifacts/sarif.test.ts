import published from '@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json' with { type: 'json' };
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { renderSarif } from '../../src/artifacts/sarif.ts';
import {
  changed,
  coverage,
  type Draft,
  folded,
  fs,
  lintEvents,
  type LintOptions,
  net,
  run,
  started,
} from '../evidence/lint/lint-events.ts';

interface Result {
  readonly ruleId: string;
  readonly ruleIndex: number;
  readonly level: string;
  readonly message: { readonly text: string };
  readonly locations: readonly {
    readonly physicalLocation: {
      readonly artifactLocation: { readonly uri: string; readonly index: number };
      readonly region: { readonly startLine: number };
    };
    readonly logicalLocations?: readonly { readonly name: string }[];
  }[];
  readonly relatedLocations?: readonly unknown[];
  readonly partialFingerprints: Readonly<Record<string, string>>;
  readonly occurrenceCount: number;
}

interface Log {
  readonly runs: readonly {
    readonly tool: {
      readonly driver: {
        readonly rules: readonly {
          readonly id: string;
          readonly help: { readonly text: string };
          readonly properties: Readonly<Record<string, unknown>>;
        }[];
      };
    };
    readonly results: readonly Result[];
    readonly artifacts: readonly { readonly location: { readonly uri: string } }[];
    readonly automationDetails: { readonly id: string };
    readonly invocations: readonly Readonly<Record<string, unknown>>[];
  }[];
}

const validate = makeValidator();

/** The published schema is of draft 4; what differs from later drafts, it does not use, but for its own name. */
function makeValidator(): (log: unknown) => unknown[] {
  const own = new Set(['$schema', 'id']);
  const schema = Object.fromEntries(Object.entries(published).filter(([name]) => !own.has(name)));
  const ajv = new Ajv({
    strict: false,
    // One of its patterns is none with the u flag.
    unicodeRegExp: false,
    allErrors: true,
    formats: {
      uri: (text) => URL.canParse(text),
      'uri-reference': (text) => /^[\w\-.~:/?#[\]@!$&'()*+,;=%]*$/.test(text),
      'date-time': true,
    },
  });
  const check = ajv.compile(schema);
  return (log) => (check(log) ? [] : (check.errors ?? []));
}

function lintToSarif(events: readonly Draft[], options: LintOptions = {}): Log {
  return JSON.parse(renderSarif(lintEvents(events, options))) as Log;
}

function resultsOf(log: Log): readonly Result[] {
  return log.runs[0]?.results ?? [];
}

const HOSTILE = '\u001b[31m\u202e[click](https://evil.example) {0} ${CWD} <script>\n\u0000"\\';

const PACK = `
name: p
version: 1.0.0
kind: compliance
description: d
author: a
license: MIT
disclaimer: "nothing {is} [claimed](x)"
requires: { assay_min_version: ">=1.0.0" }
rules:
  - id: P-1
    severity: warning
    description: "wants [more](https://x) {0}"
    article_ref: "12(1)"
    check: { type: event_count, min: 1000000 }
`;

const EVENTS: readonly Draft[] = [
  started({ mode: 'dry-run' }),
  fs('read', '${HOME}/.ssh/id_rsa'),
  fs('create', '${CWD}/.vscode/tasks.json'),
  changed('modified', '/etc/hosts'),
  net('tcp:192.0.2.1:443'),
  fs('create', '${CWD}/a.out'),
  run('${CWD}/a.out'),
  folded('read', '${CWD}/node_modules'),
  coverage('partial'),
];

describe('renderSarif()', () => {
  it('is valid SARIF 2.1.0, with and without findings, packs and a cut', () => {
    expect(validate(lintToSarif([coverage('complete')]))).toEqual([]);
    expect(validate(lintToSarif(EVENTS))).toEqual([]);
    expect(validate(lintToSarif(EVENTS, { packs: [PACK], isSandbox: false }))).toEqual([]);
    expect(validate(lintToSarif(EVENTS, { maxResults: 1 }))).toEqual([]);
  });

  it('is told from what is not valid', () => {
    const log = JSON.stringify(lintToSarif(EVENTS));
    const wrong = log.replace('"level":"error","message"', '"level":"grave","message"');
    expect(wrong).not.toBe(log);
    expect(validate(JSON.parse(wrong))).not.toEqual([]);
  });

  it('has no findings as an empty list, which is not the same as none', () => {
    expect(resultsOf(lintToSarif([coverage('complete')]))).toEqual([]);
  });

  it('lists every rule with help, and points each result to its own', () => {
    const log = lintToSarif(EVENTS, { packs: [PACK] });
    const rules = log.runs[0]?.tool.driver.rules ?? [];
    for (const { ruleId, ruleIndex } of resultsOf(log)) expect(rules[ruleIndex]?.id).toBe(ruleId);
    for (const { help } of rules) expect(help.text).not.toBe('');
    const secret = rules.find(({ id }) => id === 'ASSAY-CTL-009');
    expect(secret?.properties).toMatchObject({
      'security-severity': '8.5',
      tags: ['controls', 'security'],
    });
    expect(rules.at(-1)).toMatchObject({ id: 'p@1.0.0:P-1', properties: { article_ref: '12(1)' } });
  });

  it('points to the line of the event, and to the manifest for what is about the whole', () => {
    const log = lintToSarif(EVENTS, { packs: [PACK] });
    const placeOf = (id: string): unknown =>
      resultsOf(log).find(({ ruleId }) => ruleId === id)?.locations[0]?.physicalLocation;
    expect(placeOf('ASSAY-CTL-003')).toEqual({
      artifactLocation: { uri: 'events.ndjson', index: 2 },
      region: { startLine: 5, startColumn: 1 },
    });
    expect(placeOf('p@1.0.0:P-1')).toMatchObject({ artifactLocation: { uri: 'manifest.json' } });
    expect(log.runs[0]?.artifacts.map(({ location }) => location.uri)).toEqual([
      'run.bundle.tar.gz',
      'manifest.json',
      'events.ndjson',
    ]);
    expect(log.runs[0]?.automationDetails.id).toBe('assay-evidence-lint/sandbox_0123456789abcdef');
  });

  it('has fingerprints that do not depend on where the events stand', () => {
    const fingerprints = (log: Log): unknown =>
      resultsOf(log).map(({ ruleId, partialFingerprints }) => ({ ruleId, ...partialFingerprints }));
    const [first, ...rest] = EVENTS;
    const more = [first, fs('read', '${CWD}/a'), fs('read', '${CWD}/b'), ...rest] as Draft[];
    expect(fingerprints(lintToSarif(more))).toEqual(fingerprints(lintToSarif(EVENTS)));
    const all = resultsOf(lintToSarif(EVENTS)).map(
      ({ partialFingerprints }) => partialFingerprints['assayLintFingerprint/v1'],
    );
    expect(new Set(all).size).toBe(all.length);
    expect(all[0]).toMatch(/^[0-9a-f]{64}$/);
  });

  it('says how many were left out', () => {
    const [invocation] = lintToSarif(EVENTS, { maxResults: 2 }).runs[0]?.invocations ?? [];
    expect(invocation).toMatchObject({
      executionSuccessful: true,
      toolExecutionNotifications: [{ descriptor: { id: 'ASSAY-LINT-TRUNCATED' } }],
    });
  });

  it('keeps hostile names from being links, placeholders or escape sequences', () => {
    const events = [
      fs('read', `\${HOME}/.ssh/${HOSTILE}`),
      net(`tcp:${HOSTILE}:1`),
      coverage('complete'),
    ];
    const log = lintToSarif(events, { file: `/x/${HOSTILE}.tar.gz`, packs: [PACK] });
    expect(validate(log)).toEqual([]);
    const texts = resultsOf(log).map(({ message }) => message.text);
    expect(texts.length).toBeGreaterThan(1);
    for (const text of texts) {
      // oxlint-disable-next-line no-control-regex -- none may be there
      expect(text).not.toMatch(/[\u0000-\u001f\u202e]/);
      expect(text.replaceAll(/\\[\\[\]]/g, '')).not.toMatch(/[\\[\]]/);
      expect(text.replaceAll(/\{\{|\}\}/g, '')).not.toMatch(/[{}]/);
    }
    expect(texts.join()).toContain('$HOME/.ssh');
    expect(log.runs[0]?.artifacts[0]?.location.uri).toMatch(/^[\w.%()~'!*-]+$/);
  });
});
