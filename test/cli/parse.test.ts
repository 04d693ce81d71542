import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseCommandLine } from '../../src/cli/parse.ts';
import { AssayError } from '../../src/core/errors.ts';

function parse(line: string) {
  return parseCommandLine(line === '' ? [] : line.split(' '));
}

function refusal(line: string): string {
  try {
    parse(line);
  } catch (error) {
    if (!(error instanceof AssayError)) throw error;
    expect(error.code).toBe('E_USAGE');
    expect(error.exitCode).toBe(2);
    return `${error.message} | ${error.hint}`;
  }
  throw new Error(`${line} was accepted`);
}

describe('the program of sandbox', () => {
  it.each([
    ['sandbox ls', ['ls']],
    ['sandbox -- ls', ['ls']],
    ['sandbox ls -la --help -- --enforce', ['ls', '-la', '--help', '--', '--enforce']],
    ['sandbox -- ls -- x', ['ls', '--', 'x']],
    ['sandbox -q -- --odd', ['--odd']],
    ['sandbox --quiet ls --json x', ['ls', '--json', 'x']],
    ['sandbox - x', ['-', 'x']],
  ])('%s', (line, rest) => {
    expect(parse(line).command).toEqual(['sandbox']);
    expect(parse(line).rest).toEqual(rest);
  });

  it('is passed on byte for byte, whatever it is', () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { minLength: 1 }), (argv) => {
        expect(parseCommandLine(['sandbox', '-q', '--', ...argv]).rest).toEqual(argv);
      }),
    );
  });
});

describe('flags', () => {
  it.each([
    '--policy p.yaml',
    '--policy=p.yaml',
    '-p p.yaml',
    '-pp.yaml',
    '-p=p.yaml',
    '-qpp.yaml',
  ])('takes a value as %s', (flag) => {
    const { flags, rest } = parse(`sandbox ${flag} ls`);
    expect(flags.text('policy')).toBe('p.yaml');
    expect(rest).toEqual(['ls']);
  });

  it('takes a value that starts with one dash, as layers and the JSON target do', () => {
    const { flags } = parse('sandbox --layers -mount,-user --json - ls');
    expect(flags.text('layers')).toBe('-mount,-user');
    expect(flags.text('json')).toBe('-');
  });

  it('keeps an = inside the value', () => {
    expect(parse('sandbox --deny=a=b ls').flags.text('deny')).toBe('a=b');
  });

  it('collects repeated flags in order and splits lists', () => {
    const { flags } = parseCommandLine([
      'sandbox',
      '--deny',
      'a,b',
      '--deny=c',
      '--env-allow',
      'A, B,',
      '--env-allow',
      'C',
      'ls',
    ]);
    expect(flags.list('deny')).toEqual(['a,b', 'c']);
    expect(flags.list('env-allow')).toEqual(['A', 'B', 'C']);
  });

  it('knows what was not given', () => {
    const { flags } = parse('sandbox --enforce ls');
    expect(flags.has('enforce')).toBe(true);
    expect(flags.text('enforce')).toBeUndefined();
    expect(flags.has('policy')).toBe(false);
    expect(flags.text('policy')).toBeUndefined();
    expect(flags.list('deny')).toEqual([]);
  });

  it('reads flags after the arguments of commands that start no program', () => {
    const parsed = parse('policy explain /etc/passwd --op read --json');
    expect(parsed.command).toEqual(['policy', 'explain']);
    expect(parsed.rest).toEqual(['/etc/passwd']);
    expect(parsed.flags.text('op')).toBe('read');
    expect(parsed.flags.has('json')).toBe(true);
  });
});

describe('help and version', () => {
  it.each([
    ['', []],
    ['--help', []],
    ['-h', []],
    ['help', []],
    ['help policy check', ['policy', 'check']],
    ['sandbox --help', ['sandbox']],
    ['sandbox -q -h', ['sandbox']],
    ['policy --help', ['policy']],
    ['policy check -h', ['policy', 'check']],
    // Help matters more than what is still missing.
    ['policy explain --json --help', ['policy', 'explain']],
  ])('%s', (line, rest) => {
    expect(parse(line)).toMatchObject({ command: ['help'], rest });
  });

  it.each(['--version', '-V', 'version'])('%s is the version', (line) => {
    expect(parse(line).command).toEqual(['version']);
  });
});

describe('usage errors', () => {
  it.each([
    'sandbox',
    'sandbox --',
    'sandbox --enforc ls',
    'sandbox --allow-reed x ls',
    'sandbox --wat ls',
    'sandbox -x ls',
    'sandbox -qx ls',
    'sandbox --enforce=yes ls',
    'sandbox --policy',
    'sandbox --policy=',
    'sandbox --policy --enforce ls',
    'sandbox --policy -- ls',
    'sandbox --policy a --policy b ls',
    'sandbox --enforce --dry-run ls',
    'sandbox --dry-run --enforce ls',
    'policy',
    'policy chek',
    'policy check',
    'policy check a b',
    'policy explain x --op run',
    'doctor now',
    'selftest x',
    'completion fish',
    'sandbx ls',
    'ls -la',
    '--quiet sandbox ls',
    'toString',
    'sandbox --constructor x',
  ])('%s', (line) => {
    expect(refusal(line)).toMatchSnapshot();
  });
});
