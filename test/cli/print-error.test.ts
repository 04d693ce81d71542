import { stripVTControlCharacters } from 'node:util';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { printError, renderError } from '../../src/cli/print-error.ts';
import { AssayError } from '../../src/core/errors.ts';
import { BundleError } from '../../src/evidence/bundle/bundle-error.ts';

const PLAIN = { isColored: false, isDebug: false };

const FULL = new AssayError('E_POLICY_LOAD_FAILED_UNENFORCEABLE', 'Unknown key `wriet`', {
  at: { file: 'policy.yaml', line: 6, column: 3 },
  snippet: '  wriet: []\n  ^^^^^',
  hint: 'Did you mean `write`?',
  cause: new Error('the cause'),
});

describe('renderError()', () => {
  it('shows message, place, line, hint and code, and no stack', () => {
    expect(renderError(FULL, PLAIN)).toBe(
      [
        'assay: Unknown key `wriet`',
        '  at policy.yaml:6:3',
        '      wriet: []',
        '      ^^^^^',
        'hint: Did you mean `write`?',
        'E_POLICY_LOAD_FAILED_UNENFORCEABLE',
        '',
      ].join('\n'),
    );
  });

  it('leaves out what there is not', () => {
    expect(renderError(new AssayError('E_USAGE', 'No'), PLAIN)).toBe('assay: No\nE_USAGE\n');
  });

  it('shows the stack and that of the cause for debugging', () => {
    const text = renderError(FULL, { ...PLAIN, isDebug: true });
    expect(text).toContain('print-error.test.ts:');
    expect(text).toContain('caused by Error: the cause');
  });

  it('lets no control character of a message through to the terminal', () => {
    const hostile = 'a\u001b]0;x\u0007b\u009bc\rd\u202ee';
    const error = new AssayError('E_USAGE', hostile, { hint: hostile, snippet: hostile });
    for (const character of '\u0007\u001b\u009b\r\u202e') {
      expect(renderError(error, PLAIN)).not.toContain(character);
    }
    expect(renderError(error, PLAIN)).toContain('a\\u001b]0;x\\u0007b\\u009bc\\u000dd\\u202ee');
  });

  it('says the same in colour', () => {
    const text = renderError(FULL, { ...PLAIN, isColored: true });
    expect(text).toContain('\u001b[31massay:\u001b[0m');
    expect(stripVTControlCharacters(text)).toBe(renderError(FULL, PLAIN));
  });
});

describe('printError()', () => {
  const isTTY = process.stderr.isTTY;

  afterEach(() => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
    process.stderr.isTTY = isTTY;
  });

  function print(error: unknown): { text: string; code: number } {
    const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const code = printError(error);
    const text = write.mock.calls.map(([chunk]) => String(chunk)).join('');
    write.mockRestore();
    return { text, code };
  }

  it('returns the exit code of the error, and 3 for a mistake of its own', () => {
    expect(print(FULL).code).toBe(2);
    const { text, code } = print(new TypeError('x is not a function'));
    expect(code).toBe(3);
    expect(text).toContain('Internal error: x is not a function');
    expect(text).toContain('E_INTERNAL');
    expect(text).not.toContain('print-error.test.ts');
  });

  it('names the bundle, the place and the exact code of one that is refused', () => {
    const error = new BundleError('IntegrityEventHash', 'It was changed', {
      member: 'events.ndjson',
      line: 7,
    });
    error.file = 'run.tgz';
    const { text, code } = print(error);
    expect(code).toBe(1);
    expect(text).toMatch(
      /^assay: run\.tgz: events\.ndjson:7: It was changed \(IntegrityEventHash\)\n/,
    );
    expect(text).toMatch(/\nhint: .+\nE_EVIDENCE_INTEGRITY\n$/);
  });

  it('colours on a terminal only, and not with NO_COLOR', () => {
    vi.stubEnv('TERM', 'xterm');
    vi.stubEnv('NO_COLOR', '');
    process.stderr.isTTY = true;
    expect(print(FULL).text).toContain('\u001b[');
    vi.stubEnv('NO_COLOR', '1');
    expect(print(FULL).text).not.toContain('\u001b[');
    vi.stubEnv('NO_COLOR', '');
    process.stderr.isTTY = false;
    expect(print(FULL).text).not.toContain('\u001b[');
  });

  it('shows the stack with ASSAY_DEBUG=1', () => {
    vi.stubEnv('ASSAY_DEBUG', '1');
    expect(print(new Error('oops')).text).toContain('print-error.test.ts');
  });
});
