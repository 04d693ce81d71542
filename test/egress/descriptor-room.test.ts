import { expect, it } from 'vitest';
import { countRoom } from '../../src/egress/descriptor-room.ts';

const limits = (soft: string): string =>
  `Limit   Soft Limit   Hard Limit   Units\nMax processes   7   7   processes\nMax open files            ${soft}   1048576   files\n`;

it.each([
  ['256', 76, 24],
  ['1024', 384, 120],
  ['1048576', 419_404, 131_064],
  ['10', 1, 1],
  ['unlimited', Infinity, Infinity],
])('countRoom() leaves enough for assay itself: %s', (soft, connections, questions) => {
  expect(countRoom(limits(soft))).toEqual({ connections, questions });
});

it('countRoom() knows of nothing in the way where the kernel says nothing', () => {
  expect(countRoom('')).toEqual({ connections: Infinity, questions: Infinity });
});
