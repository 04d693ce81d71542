import { expect, it } from 'vitest';
import { VerdictMemo } from '../../src/egress/verdict-memo.ts';

it('VerdictMemo keeps an answer while its basis is the same', () => {
  const memo = new VerdictMemo();
  let made = 0;
  const one = {};
  const ask = (key: string, ...basis: unknown[]): number => memo.get(key, basis, () => ++made);
  expect([ask('a', one, 1), ask('a', one, 1), ask('b', one, 1)]).toEqual([1, 1, 2]);
  expect([ask('a', {}, 1), ask('b', one, 1), ask('b', one, 2)]).toEqual([3, 4, 5]);
});

it('VerdictMemo stays small, whatever is asked', () => {
  const memo = new VerdictMemo();
  let made = 0;
  for (let number = 0; number < 5000; number++) memo.get(`key ${number}`, [], () => ++made);
  expect(memo.get('key 0', [], () => 'again')).toBe('again');
  const long = 'x'.repeat(10_000);
  memo.get(long, [], () => 1);
  expect(memo.get(long, [], () => 2)).toBe(2);
});
