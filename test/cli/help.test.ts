import { describe, expect, it } from 'vitest';
import { COMMANDS, type Command, type CommandName } from '../../src/cli/grammar.ts';
import { TEXTS } from '../../src/cli/help-texts.ts';
import { renderHelp } from '../../src/cli/help.ts';
import { parseCommandLine } from '../../src/cli/parse.ts';
import { AssayError } from '../../src/core/errors.ts';

const NAMES = Object.keys(COMMANDS) as CommandName[];

describe('renderHelp()', () => {
  it.each(NAMES)('names every flag of %s and shows an example', (name) => {
    const text = renderHelp(name.split(' '));
    const { flags }: Command = COMMANDS[name];
    for (const flag of Object.keys(flags)) {
      expect(text).toMatch(new RegExp(`--${flag}(\\s|$)`, 'm'));
    }
    expect(text).toContain('Examples:');
  });

  it.each(['', 'policy', ...NAMES])('fits into a hundred columns: %s', (name) => {
    const lines = renderHelp(name === '' ? [] : name.split(' ')).split('\n');
    expect(lines.filter((line) => line.length > 100)).toEqual([]);
  });

  it('lists every command when none is named', () => {
    for (const name of NAMES) expect(renderHelp([])).toContain(`  ${name} `);
  });

  it.each(['', 'policy', 'sandbox'])('looks as it should: %s', (name) => {
    expect(renderHelp(name === '' ? [] : [name])).toMatchSnapshot();
  });

  it('refuses a command that is not there', () => {
    expect(() => renderHelp(['polcy', 'check'])).toThrow(AssayError);
  });
});

describe('the examples', () => {
  const lines = NAMES.flatMap((name) => TEXTS[name].examples.map(({ line }) => line));

  it.each(lines)('%s can be typed', (line) => {
    // Enough of a shell for these lines: what assay gets of them.
    const inner = /assay ([^<>)]*)/.exec(line)?.[1] ?? '';
    const words = inner.trim().replaceAll("'", '').split(' ');
    expect(() => parseCommandLine(words)).not.toThrow();
  });
});
