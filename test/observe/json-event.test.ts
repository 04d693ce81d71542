import { describe, expect, it } from 'vitest';
import type { Event, Program } from '../../src/observe/event.ts';
import { toJsonEvent } from '../../src/observe/json-event.ts';

const SHELL: Program = {
  id: 1,
  parent: 0,
  image: '/bin/sh',
  count: 1,
  atMs: 0,
  commands: [['sh', '-c', 'x']],
};
const ATTEMPT = { basis: 'performed', outcome: 'ok', program: 1, count: 1, atMs: 0 } as const;

describe('toJsonEvent()', () => {
  it.each<[Event | Program, string]>([
    [
      { kind: 'file', op: 'create', path: '/w/a', ...ATTEMPT },
      '{"type":"event","kind":"file","op":"create","path":"/w/a","outcome":"ok","basis":"performed","program":{"id":1,"image":"/bin/sh"}}',
    ],
    [
      {
        ...ATTEMPT,
        kind: 'file',
        op: 'write',
        path: '/w/a\n',
        requested: 'a\n',
        before: { dev: '1', ino: '2', size: 3, mtimeNs: '4', ctimeNs: '5' },
        outcome: 'EACCES',
        decision: { rule: null, layer: 'kernel' },
      },
      '{"type":"event","kind":"file","op":"write","path":"/w/a\\n","requested":"a\\n","outcome":"EACCES","basis":"performed","decision":{"rule":null,"layer":"kernel"},"program":{"id":1,"image":"/bin/sh"}}',
    ],
    [
      { kind: 'exec', path: '/bin/ls', ...ATTEMPT },
      '{"type":"event","kind":"exec","op":"exec","path":"/bin/ls","outcome":"ok","basis":"performed","program":{"id":1,"image":"/bin/sh"}}',
    ],
    [
      { kind: 'network', op: 'connect', family: 'tcp', host: '::1', port: 80, ...ATTEMPT },
      '{"type":"event","kind":"network","op":"connect","family":"tcp","host":"::1","port":80,"outcome":"ok","basis":"performed","program":{"id":1,"image":"/bin/sh"}}',
    ],
    [{ kind: 'limit', limit: 'files', atMs: 5 }, '{"type":"event","kind":"limit","limit":"files"}'],
    [
      { id: 2, parent: 1, image: '/bin/ls', count: 1, atMs: 0, commands: [['ls']] },
      '{"type":"program","id":2,"image":"/bin/ls","parent":{"id":1,"image":"/bin/sh"},"command":["ls"]}',
    ],
  ])('%j', (sighting, json) => {
    expect(JSON.stringify(toJsonEvent(sighting, SHELL))).toBe(json);
  });

  it('names a program by its number when no more is known', () => {
    const event = { kind: 'exec', path: '/bin/ls', ...ATTEMPT } as const;
    expect(toJsonEvent(event, undefined)['program']).toEqual({ id: 1 });
  });
});
