import { describe, expect, it } from 'vitest';
import { type Counters, describeCounters } from '../../src/observe/counters.ts';
import type { Event, Program } from '../../src/observe/event.ts';
import { commandLine, eventLine, newRecorder, programLine, record } from './lines.ts';

describe('what is shown while the program runs', () => {
  it('is each thing once, programs with their command line and before what they do', () => {
    const seen: [Event | Program, Program | undefined][] = [];
    record(
      programLine(1, 0, '/bin/sh') +
        commandLine(1, ['sh', 'x']) +
        eventLine({ path: '/a' }) +
        eventLine({ id: 2, path: '/a' }) +
        programLine(2, 1, '/bin/ls') +
        eventLine({ id: 3, path: '/b', program: 2 }) +
        programLine(3, 1, '/bin/cp'),
      { onFirstSighting: (...sighting) => void seen.push(sighting) },
    );
    expect(
      seen.map(([sighting, by]) => [
        'kind' in sighting
          ? 'path' in sighting && sighting.path
          : [sighting.image, ...sighting.commands.flat()],
        by?.image,
      ]),
    ).toEqual([
      [['/bin/sh', 'sh', 'x'], undefined],
      ['/a', '/bin/sh'],
      [['/bin/ls'], '/bin/sh'],
      ['/b', '/bin/ls'],
      [['/bin/cp'], '/bin/sh'],
    ]);
  });

  it('is counted: files once, whoever wrote them, and what was refused', () => {
    const seen: Counters[] = [];
    const recorder = newRecorder({ onCounters: (counters) => void seen.push(counters) });
    recorder.feed(programLine(1, 0, '/bin/sh'));
    recorder.feed('{"abi":6}\n');
    recorder.feed(
      eventLine({ op: 'create', path: '/a' }) +
        eventLine({ id: 2, op: 'write', path: '/a', program: 2 }) +
        eventLine({ id: 3, op: 'create', path: '/b', errno: 17 }) +
        eventLine({ id: 4, op: 'mkdir', path: '/d' }) +
        eventLine({ id: 5, op: 'write', path: '/c', rule: 3, errno: 13 }) +
        eventLine({ id: 6, op: 'connect', path: 'tcp:1.1.1.1:80' }) +
        eventLine({ id: 7, op: 'connect', path: 'tcp:1.1.1.1:80', program: 2 }),
    );
    expect(seen).toEqual([
      { filesWritten: 0, programs: 1, endpoints: 0, refused: 0 },
      { filesWritten: 1, programs: 1, endpoints: 1, refused: 1 },
    ]);
  });

  it('counts a thousand files as a thousand', () => {
    const recorder = newRecorder();
    for (let id = 1; id <= 5000; id++) recorder.feed(eventLine({ id, path: `/a/${id}` }));
    expect(recorder.counters.filesWritten).toBe(5000);
  });

  it.each([
    [
      { filesWritten: 42, programs: 7, endpoints: 0, refused: 3 },
      '42 files written · 7 programs · 3 refused',
    ],
    [
      { filesWritten: 1, programs: 1, endpoints: 1, refused: 0 },
      '1 file written · 1 program · 1 endpoint',
    ],
    [{ filesWritten: 0, programs: 0, endpoints: 0, refused: 0 }, '0 files written · 0 programs'],
  ])('reads %j → %s', (counters, text) => {
    expect(describeCounters(counters)).toBe(text);
  });
});
