import { describe, expect, it } from 'vitest';

import { makeHide } from '../../src/core/known-secrets.ts';

describe('makeHide()', () => {
  it.each([
    ['/etc/qz+7/value=77.txt', '/etc/[redacted].txt'],
    ['https://a.org/?q=qz%2B7%2Fvalue%3D77&b', 'https://a.org/?q=[redacted]&b'],
    ['QZ+7/VALUE=77 twice qz+7/value=77', '[redacted] twice [redacted]'],
    ['qz+7/value=7', 'qz+7/value=7'],
    ['qzz7/value=77', 'qzz7/value=77'],
  ])('makes %j %j', (text, shown) => {
    expect(makeHide(['qz+7/value=77'])(text)).toBe(shown);
  });

  it('hides the whole of a value that begins with another', () => {
    expect(makeHide(['abcd1234', 'abcd1234efgh'])('x-abcd1234efgh')).toBe('x-[redacted]');
  });

  it('leaves short values and halves of characters alone', () => {
    expect(makeHide(['abc1234', '12345678\ud800'])('abc1234 12345678')).toBe('abc1234 12345678');
  });
});
