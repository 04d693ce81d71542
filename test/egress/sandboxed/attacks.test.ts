import { expect, it } from 'vitest';
import { describeForEachPerson } from '../../e2e/as-user.ts';
import { usePlaces } from '../../e2e/place.ts';
import { fixture, PYTHON } from '../../e2e/run-assay.ts';
import { OWN, runInWorld, WEB } from './world.ts';

/** Names that are allowed, and lead where nobody may go. */
const zone = {
  'rules.example.org': [WEB],
  'home.example.org': ['127.0.0.1'],
  'nat64.example.org': ['64:ff9b::7f00:1'],
  '6to4.example.org': ['2002:7f00:1::1'],
  'mapped.example.org': ['::ffff:127.0.0.1'],
  'metadata.example.org': ['169.254.169.254'],
  'self.example.org': [OWN],
  // As a network with translators of its own would write 10.0.0.1 and the loopback of the translator.
  'ipv4only.arpa': ['2001:db8:64::c000:aa', '2001:db8:64::c000:ab'],
  'translated.example.org': ['2001:db8:64::a00:1'],
  'local-nat64.example.org': ['64:ff9b:1:a00:0:100::'],
};
const POLICY = `api_version: assay/v1
net:
  allow:
    - '*.example.org:80'
    - { host: 'rules.example.org:80', methods: [GET], paths: [/v1/] }
`;

/** By CONNECT: 400 for what is no host, 403 for what is not allowed. */
const HOSTS: Readonly<Record<string, number>> = {
  'home.example.org': 403,
  'written.example.org': 403,
  'nat64.example.org': 403,
  '6to4.example.org': 403,
  'mapped.example.org': 403,
  'metadata.example.org': 403,
  'self.example.org': 403,
  'translated.example.org': 403,
  'local-nat64.example.org': 403,
  [OWN]: 403,
  '127.0.0.1': 403,
  '0.0.0.0': 403,
  '198.18.0.99': 403,
  localhost: 403,
  '127.1': 400,
  '0x7f.1': 400,
  '0177.0.0.1': 400,
  '2130706433': 400,
  'rules.example.org@127.0.0.1': 400,
  'rules.example.org..': 400,
  'rules.example.org%00': 400,
};

describeForEachPerson('attacks on the doors', (person) => {
  const makePlace = usePlaces(person);

  it('reach nothing that no rule names', async () => {
    const place = makePlace();
    const { stdout } = await runInWorld({
      place,
      zone,
      hosts: '127.0.0.1 written.example.org\n',
      flags: ['--quiet', '--policy', place.write('policy.yaml', POLICY)],
      command: [PYTHON, '-c', fixture('door-attacks.py'), ...Object.keys(HOSTS)],
    });
    const expected = Object.entries(HOSTS).flatMap(([host, status]) => [
      `http ${host} ${status}`,
      `socks ${host} 2`,
    ]);
    expect(stdout.split('\n').filter(Boolean).sort()).toEqual(
      [
        ...expected,
        'transparent door ECONNRESET',
        'IP_TRANSPARENT EPERM',
        'SO_MARK EPERM',
        'TCP_REPAIR EPERM',
        'proxy port EADDRINUSE',
        'transparent port EADDRINUSE',
        'resolver port EACCES',
        'keeper EPERM',
        'network EPERM',
        'old HTTP nothing',
        'form feed nothing',
        'what is allowed answered',
      ].sort(),
    );
  });
});
