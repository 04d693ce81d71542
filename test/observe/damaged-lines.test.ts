import { describe, expect, it } from 'vitest';
import { eventLine, record } from './lines.ts';

describe('what Recorder cannot read', () => {
  it('leaves the lines of others alone', () => {
    const text = `{"failed":"x","what":"y","errno":1}\n{"abi":6}\n{"exec":2}\n{"end":{}}\n{"refusals":1}\n{"absent":"/x"}\n{"gitDir":"/g","born":true}\n\n`;
    expect(record(text).damagedLines).toBe(0);
  });

  it.each([
    'x',
    '{}',
    'null',
    '[]',
    '{"unknown":1}',
    '{"e":1}',
    '{"e":[]}',
    eventLine({}).slice(0, -4),
    eventLine({ op: 'juggle' }),
    eventLine({ basis: 'x' }),
    eventLine({ rule: -9 }),
    eventLine({ errno: -2 }),
    eventLine({ state: '1:2' }),
    eventLine({ id: -1 }),
    eventLine({ atMs: -1 }),
    eventLine({ atMs: 0.5 }),
    eventLine({ path: `/${'x'.repeat(100_000)}` }),
    '{"e":[1,1,"create","/w/\u1234","",0,"p",0,"",0,"",0]}',
    '{"e":[1,1,"create",7,"",0,"p",0,"",0,"",0]}',
    '{"p":[0,0,"/bin/sh","","1","2","3","4","5","",0,false]}',
    '{"p":[1,0,"/bin/sh","","1","2","3","4","5","zz",0,false]}',
    '{"a":[1,["x"],false]}',
    '{"a":[1,[1],false]}',
    '{"c":[[99,2]]}',
    '{"c":[[1]]}',
    '{"n":[[99,2]]}',
    '{"pids":[[1,"x"]]}',
    '{"lost":-1}',
    '{"lost":"x"}',
    'x'.repeat(3 << 20),
  ])('counts a damaged line, and reads on (%#)', (raw) => {
    const { events, damagedLines } = record(`${raw.trimEnd()}\n${eventLine({ path: '/after' })}`);
    expect(damagedLines).toBe(1);
    expect(events).toMatchObject([{ path: '/after' }]);
  });

  it('counts a last line that was cut short', () => {
    expect(record(eventLine({}) + eventLine({ id: 2 }).slice(0, 20))).toMatchObject({
      damagedLines: 1,
      events: [{ path: '/w/a' }],
    });
  });
});
