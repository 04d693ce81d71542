import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { describeForEachPerson } from './as-user.ts';
import { type Place, usePlaces } from './place.ts';
import { ASSAY, PYTHON, runAssay } from './run-assay.ts';

interface Found {
  readonly rule: string;
  readonly place: string;
  readonly examples: readonly string[];
}

interface Document {
  readonly findings: readonly {
    readonly rule_id: string;
    readonly place: string;
    readonly examples: readonly { readonly subject: string }[];
  }[];
}

/** An address of this machine that is not loopback. */
const ADDRESS = Object.values(networkInterfaces())
  .flat()
  .find((one) => one?.family === 'IPv4' && !one.internal)?.address;

describeForEachPerson('lint of real runs', (person) => {
  const makePlace = usePlaces(person);

  async function lintRun(place: Place, flags: readonly string[], script: string): Promise<Found[]> {
    const bundle = place.at('work.bundle.tar.gz');
    const outcome = await runAssay({
      place,
      flags: ['--quiet', '--bundle', bundle, ...flags],
      command: ['/bin/sh', '-c', script],
    });
    expect(outcome.code, outcome.stderr).toBe(0);
    const { stdout, stderr } = spawnSync(ASSAY, ['evidence', 'lint', bundle, '--format', 'json'], {
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    return (JSON.parse(stdout) as Document).findings.map(
      ({ rule_id: rule, place: at, examples }) => ({
        rule,
        place: at,
        examples: examples.map(({ subject }) => subject),
      }),
    );
  }

  const rulesOf = (found: readonly Found[], area: string): string[] =>
    found.map(({ rule }) => rule).filter((rule) => rule.includes(area));

  it('finds nothing about the controls in a run that keeps to its workspace', async () => {
    const place = makePlace();
    place.write('work/a', 'text');
    const found = await lintRun(
      place,
      ['--preset', 'coding-agent'],
      'cp a b; echo x > "$TMPDIR/t"; cat b',
    );
    expect(rulesOf(found, '-CTL-')).toEqual([]);
    expect(rulesOf(found, '-REF-')).toEqual([]);
    expect(rulesOf(found, '-W')).toEqual([]);
  });

  it('finds what was written outside, the secret that was read, and the one that was not', async () => {
    const place = makePlace();
    place.write('home/.aws/credentials', '[default]\n');
    place.write('home/.config/gcloud/credentials.db', 'planted');
    place.makeDir('home/notes');
    const granted = ['--allow-read', '~/.config/gcloud', '--allow-write', '~/notes'];
    const found = await lintRun(
      place,
      ['--preset', 'coding-agent', ...granted],
      'cat ~/.config/gcloud/credentials.db; cat ~/.aws/credentials; echo x > ~/notes/list',
    );
    expect(found).toContainEqual({
      rule: 'ASSAY-CTL-008',
      place: '${HOME}/notes',
      examples: ['${HOME}/notes/list'],
    });
    expect(found).toContainEqual({
      rule: 'ASSAY-CTL-009',
      place: '~/.config/gcloud',
      examples: ['${HOME}/.config/gcloud/credentials.db'],
    });
    expect(found.filter(({ place: at }) => at === '~/.aws')).toEqual([
      {
        // Denied, or out of sight with the rest of the home.
        rule: expect.stringMatching(/^ASSAY-CTL-01[01]$/) as string,
        place: '~/.aws',
        examples: ['${HOME}/.aws/credentials'],
      },
    ]);
  });

  it.each([
    ['dry', ['--dry-run'], 'ASSAY-HON-009', ''],
    ['not watched everywhere', ['--observe', 'effects'], 'ASSAY-HON-011', 'reads'],
    ['without a layer', ['--layers=-pid'], 'ASSAY-HON-007', 'pid'],
    ['without what a layer does', ['--layers=-pid'], 'ASSAY-HON-005', 'processes'],
  ])('finds that a run was %s', async (_, flags, rule, at) => {
    const isMeant = (one: Found): boolean => one.rule === rule && one.place === at;
    const place = makePlace();
    expect((await lintRun(place, [], 'cat /dev/null')).filter(isMeant)).toEqual([]);
    expect((await lintRun(place, flags, 'cat /dev/null')).filter(isMeant)).toHaveLength(1);
  });

  it('finds a .env file that was read', async () => {
    const place = makePlace();
    place.write('work/.env', 'KEY=1\n');
    const found = await lintRun(place, [], 'cat .env');
    expect(found).toContainEqual({
      rule: 'ASSAY-CTL-009',
      place: '.env',
      examples: ['${CWD}/.env'],
    });
  });

  it('finds a hook that was tried, and a program that was made and run', async () => {
    const place = makePlace();
    const script = [
      'git init -q . 2>/dev/null',
      'echo x > .git/hooks/pre-push',
      'cp /bin/echo tool',
      './tool made',
    ].join('; ');
    const found = await lintRun(place, ['--preset', 'coding-agent'], `{ ${script}; } 2>/dev/null`);
    expect(rulesOf(found, '-CTL-')).toContain('ASSAY-CTL-002');
    expect(found).toContainEqual({
      rule: 'ASSAY-CTL-006',
      place: '${CWD}/tool',
      examples: ['${CWD}/tool'],
    });
    expect(rulesOf(found, '-CTL-001')).toEqual([]);
  });

  it('finds a connection that was tried where there is no network', async () => {
    const place = makePlace();
    const found = await lintRun(
      place,
      [],
      `${PYTHON} -c 'import socket; socket.create_connection(("198.51.100.7", 80), 2)' 2>/dev/null; exit 0`,
    );
    const tried = found.filter(({ place: at }) => at === 'tcp:198.51.100.7:80');
    expect(tried.map(({ rule }) => rule)).toEqual([
      expect.stringMatching(/^ASSAY-(?:CTL-012|REF-001)$/),
    ]);
  });

  describe.skipIf(ADDRESS === undefined)('on a machine with a network', () => {
    let server: Server;
    beforeEach(async () => {
      const program = readFileSync('/bin/echo');
      server = createServer((_, response) => response.end(program));
      await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
    });
    afterEach(() => server.close());

    it('finds a program that was fetched and run', async () => {
      const place = makePlace();
      const { port } = server.address() as AddressInfo;
      place.write('policy.yaml', "extends: [coding-agent]\nnet: { allow: ['*'] }\n");
      const fetch = `import urllib.request as u; open("tool","wb").write(u.urlopen("http://${ADDRESS}:${port}/").read())`;
      const found = await lintRun(
        place,
        ['--policy', place.at('policy.yaml')],
        `${PYTHON} -c '${fetch}' && chmod +x tool && ./tool fetched`,
      );
      expect(found).toContainEqual({
        rule: 'ASSAY-CTL-003',
        place: `tcp:${ADDRESS}:${port}`,
        examples: [`tcp:${ADDRESS}:${port}`],
      });
      expect(found).toContainEqual({
        rule: 'ASSAY-CTL-007',
        place: '${CWD}/tool',
        examples: ['${CWD}/tool'],
      });
    });
  });
});
