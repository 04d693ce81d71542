import { expect, it } from 'vitest';
import { describeForEachPerson } from '../../e2e/as-user.ts';
import { usePlaces } from '../../e2e/place.ts';
import { PYTHON } from '../../e2e/run-assay.ts';
import { OTHER, runInWorld, WEB } from './world.ts';

const zone = {
  'web.example.org': [WEB],
  'api.example.net': [OTHER, '2001:db8::1'],
  'no.example.com': [WEB],
};
const flags = ['--quiet', '--allow-net', 'web.example.org', '--allow-net', '*.example.net'];

const NODE = `
const dns = require('node:dns').promises;
const tell = (what, asked) => asked.then(
  (found) => console.log(what, JSON.stringify(found)),
  (error) => console.log(what, error.code));
(async () => {
  await tell('lookup', dns.lookup('web.example.org', { all: true }));
  await tell('resolve4', dns.resolve4('api.example.net'));
  await tell('resolve6', dns.resolve6('api.example.net'));
  await tell('reverse', dns.reverse('198.18.0.2'));
  await tell('missing', dns.resolve4('none.example.net'));
  await tell('refused', dns.lookup('no.example.com'));
  await tell('refused', dns.resolve4('no.example.com'));
  await tell('tunnel', dns.resolveTxt('no.example.com'));
  await tell('localhost', dns.lookup('localhost', { family: 4 }));
})();
`;

describeForEachPerson('names inside', (person) => {
  const makePlace = usePlaces(person);

  it('are told by node, as addresses that stand for them, and no other leaves the host', async () => {
    const command = [process.execPath, '-e', NODE];
    const { stdout, stderr, asked } = await runInWorld({
      place: makePlace(),
      flags,
      command,
      zone,
    });
    expect([stderr, stdout.split('\n')]).toEqual([
      '',
      [
        'lookup [{"address":"198.18.0.1","family":4}]',
        'resolve4 ["198.18.0.2"]',
        'resolve6 ENODATA',
        'reverse ["api.example.net"]',
        'missing ENOTFOUND',
        'refused ENOTFOUND',
        'refused ENOTFOUND',
        'tunnel EREFUSED',
        'localhost {"address":"127.0.0.1","family":4}',
        '',
      ],
    ]);
    expect(asked).toEqual([
      'api.example.net',
      'ipv4only.arpa',
      'none.example.net',
      'web.example.org',
    ]);
  });

  it('are told by getent and python, also those that the host has written down', async () => {
    const script = [
      'getent hosts written.example.net',
      'getent ahostsv4 web.example.org | head -1',
      'getent hosts no.example.com || echo no',
      `${PYTHON} -c 'import socket; print(socket.gethostbyname("api.example.net"))'`,
      `${PYTHON} -c 'import socket; print(socket.getfqdn("198.18.0.1"))'`,
      'cat /etc/resolv.conf',
    ].join('\n');
    const command = ['/bin/sh', '-c', script];
    const hosts = `${OTHER} written.example.net\n${OTHER} no.example.com\n`;
    const run = { place: makePlace(), flags, command, zone, hosts };
    const { stdout, stderr, asked } = await runInWorld(run);
    expect([stderr, stdout.replaceAll(/ +/g, ' ').split('\n')]).toEqual([
      '',
      [
        '198.18.0.1 written.example.net',
        '198.18.0.2 STREAM web.example.org',
        'no',
        '198.18.0.3',
        'written.example.net',
        'nameserver 127.0.0.53',
        '',
      ],
    ]);
    expect(asked).toEqual(['api.example.net', 'ipv4only.arpa', 'web.example.org']);
  });
});
