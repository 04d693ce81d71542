import { describe, expect, it } from 'vitest';
import { decodeFile } from '../../src/tool/code-input.ts';
import { findModuleKind, namesOtherModules } from '../../src/tool/module-kind.ts';

/** Far more than can be looked at once for each of them. */
const BLANKS = ' '.repeat(2_000_000);
const LINES = '\n'.repeat(2_000_000);

describe('long input is looked at once', () => {
  it.each([
    [`from${BLANKS}x`, false],
    [`require${BLANKS}(${BLANKS}x`, false],
    [`import${BLANKS}(${BLANKS}'./a.js')`, true],
    [`import a from${LINES}'./a.js'`, true],
    ['from '.repeat(400_000), false],
  ])('for the modules that it names (%#)', (code, expected) => {
    expect(namesOtherModules(code)).toBe(expected);
  });

  it.each([
    [`import a ) ${LINES}x`, true],
    [`) ${LINES}${BLANKS}export default 1`, true],
    [`) await ${LINES}${BLANKS}x`, false],
    ['(async () => { await 1 });'.repeat(50_000), false],
    [`${'(async () => { await 1 });'.repeat(50_000)} await 1`, true],
  ])('for what kind of module it is (%#)', async (code, isModule) => {
    expect(await findModuleKind(code)).toMatchObject({ isModule });
  });

  it('for whether it is base64', () => {
    const decode = (content: string): string =>
      Buffer.from(decodeFile({ path: 'a', content, encoding: 'base64' })).toString();
    expect(decode(`YQ${BLANKS}==${LINES}`)).toBe('a');
    for (const content of [`${BLANKS}!`, `YQ==${BLANKS}!`, 'YQ===', 'YQ= =', '='.repeat(2_000_000)])
      expect(() => decode(content)).toThrow('is not base64');
  });
});
