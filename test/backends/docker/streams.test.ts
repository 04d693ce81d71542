import { describe, expect, it } from 'vitest';

import { makeDemux } from '../../../src/backends/docker/demux.ts';
import { listEndpoints } from '../../../src/backends/docker/endpoint.ts';

function frame(stream: number, text: string): Buffer {
  const header = Buffer.alloc(8);
  header[0] = stream;
  header.writeUInt32BE(Buffer.byteLength(text), 4);
  return Buffer.concat([header, Buffer.from(text)]);
}

describe('makeDemux()', () => {
  const whole = Buffer.concat([frame(1, 'out'), frame(2, 'err'), frame(1, ''), frame(1, 'more')]);

  it.each([1, 3, 7, 8, 9, 11, 1000])('keeps streams apart in pieces of %d', (size) => {
    const seen = { stdout: '', stderr: '' };
    const demux = makeDemux({
      stdout: (data) => void (seen.stdout += data.toString()),
      stderr: (data) => void (seen.stderr += data.toString()),
    });
    for (let at = 0; at < whole.length; at += size) demux(whole.subarray(at, at + size));
    expect(seen).toEqual({ stdout: 'outmore', stderr: 'err' });
  });
});

describe('listEndpoints()', () => {
  it.each([
    ['unix:///run/x.sock', { list: [{ socketPath: '/run/x.sock' }] }],
    ['tcp://127.0.0.1:2400', { list: [{ host: '127.0.0.1', port: 2400 }] }],
    ['tcp://localhost', { list: [{ host: 'localhost', port: 2375 }] }],
  ])('takes %s from DOCKER_HOST', (host, expected) => {
    expect(listEndpoints({ DOCKER_HOST: host })).toEqual(expected);
  });

  it.each(['ssh://example.org', 'nonsense', 'tcp://'])('refuses %s', (host) => {
    expect(listEndpoints({ DOCKER_HOST: host })).toHaveProperty('problem');
  });
});
