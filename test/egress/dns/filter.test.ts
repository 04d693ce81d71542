import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TYPE } from '../../../src/egress/dns/record-types.ts';
import { type Harness, makeHarness } from './harness.ts';
import { OPT, packName, packQuery, type QueryParts, readAnswer } from './messages.ts';

const CODES = ['NOERROR', 'FORMERR', 'SERVFAIL', 'NXDOMAIN', 'NOTIMP', 'REFUSED'];

/** The answer as text: `NOERROR 1:c6120001`. */
async function ask({ filter }: Harness, name: string, parts: QueryParts = {}): Promise<string> {
  const bytes = await filter.answer(packQuery(name, parts), 5353);
  if (!bytes) return 'nothing';
  const { rcode, records } = readAnswer(bytes);
  const texts = records.map(({ type, data }) => `${type}:${data.toString('hex')}`);
  return [CODES[rcode], ...texts].join(' ');
}

describe('DnsFilter', () => {
  it('answers allowed names with addresses that stand for them', async () => {
    const harness = makeHarness({ allow: ['one.example', '*.two.example:443'] });
    expect(await ask(harness, 'one.example')).toBe('NOERROR 1:c6120001');
    expect(await ask(harness, 'WWW.two.Example', { tail: OPT })).toBe('NOERROR 1:c6120002');
    expect(await ask(harness, 'one.example')).toBe('NOERROR 1:c6120001');
    expect(harness.names.nameOf('198.18.0.2')).toBe('www.two.example');
    expect(harness.asked).toEqual(['one.example', 'www.two.example']);
  });

  it('does not hand out a name that the outside does not have', async () => {
    const harness = makeHarness({ allow: ['*.example'], world: { 'is.example': ['203.0.113.9'] } });
    expect(await ask(harness, 'is.example')).toBe('NOERROR 1:c6120001');
    expect(await ask(harness, 'is-not.example')).toBe('NXDOMAIN');
    expect(await ask(harness, 'is-not.example', { type: TYPE.AAAA })).toBe('NXDOMAIN');
  });

  it('says when the outside cannot be asked', async () => {
    const outside = async (): Promise<never> => {
      throw Object.assign(new Error('late'), { code: 'ETIMEOUT' });
    };
    expect(await ask(makeHarness({ allow: ['a.example'], outside }), 'a.example')).toBe('SERVFAIL');
  });

  it.each(['AAAA', 'HTTPS', 'SVCB', 'MX', 'SRV', 'TXT', 'ANY', 'CNAME', 'NS', 'CAA'] as const)(
    'has no %s of an allowed name',
    async (type) => {
      const harness = makeHarness({ allow: ['a.example'] });
      expect(await ask(harness, 'a.example', { type: TYPE[type] })).toBe('NOERROR');
      expect(harness.facts).toMatchObject([{ type, answer: 'NOERROR', atMs: 42, peerPort: 5353 }]);
    },
  );

  it('refuses other names at once, without asking for them, and says why', async () => {
    const harness = makeHarness({ allow: ['*.example.org'], deny: ['no.example.org'] });
    expect(await ask(harness, 'example.com')).toBe('NXDOMAIN');
    expect(await ask(harness, 'no.example.org')).toBe('NXDOMAIN');
    expect(await ask(harness, 'example.org')).toBe('NXDOMAIN');
    expect(harness.asked).toEqual([]);
    const verdicts = harness.facts.map(({ name, answer, verdict }) => [name, answer, verdict]);
    expect(verdicts).toEqual([
      [
        'example.com',
        'NXDOMAIN',
        {
          isAllowed: false,
          rule: null,
          reason: 'no rule allows example.com',
          hint: '--allow-net example.com',
        },
      ],
      [
        'no.example.org',
        'NXDOMAIN',
        expect.objectContaining({ rule: 'policy.yaml:1:1 net.deny: no.example.org' }),
      ],
      ['example.org', 'NXDOMAIN', expect.objectContaining({ hint: '--allow-net example.org' })],
    ]);
  });

  const data = 'mfrggzdfmztwq2lknnwg23tpobyxe43u';
  it.each([
    ['a question for TXT', 'a.example', 'TXT'],
    ['a question for NULL', 'a.example', 'NULL'],
    ['a question for ANY', 'a.example', 'ANY'],
    ['a question for AXFR', 'a.example', 'AXFR'],
    ['a label of 60 characters', `${'long'.repeat(15)}.example`, 'A'],
    ['a name of 137 characters', `${'word.'.repeat(26)}example`, 'A'],
    ['a name that looks random', `${data}.t.example`, 'A'],
    ['a name that looks random', `${data}.t.example`, 'AAAA'],
  ] as const)('takes %s for a tunnel', async (reason, name, type) => {
    const harness = makeHarness({ allow: ['other.example'] });
    expect(await ask(harness, name, { type: TYPE[type] })).toBe('REFUSED');
    expect(harness.facts).toMatchObject([
      { answer: 'REFUSED', verdict: { reason: `looks like a tunnel: ${reason}` } },
    ]);
    expect(harness.asked).toEqual([]);
  });

  it.each([
    ['FORMERR', { counts: [2, 0, 0, 0] }],
    ['NOTIMP', { flags: 0x2900 }],
    ['nothing', { flags: 0x8100 }],
  ] as const)('tells of a message that is no question: %s', async (answer, parts) => {
    const harness = makeHarness({ allow: ['a.example'] });
    expect(await ask(harness, 'a.example', parts)).toBe(answer);
    expect(harness.facts).toMatchObject([
      { name: 'unread', answer: answer === 'nothing' ? 'none' : answer, peerPort: 5353 },
    ]);
  });

  it('hands out no zone', async () => {
    const harness = makeHarness({ allow: ['a.example'] });
    expect(await ask(harness, 'a.example', { type: TYPE.AXFR })).toBe('REFUSED');
    expect(harness.asked).toEqual([]);
  });

  it('lets long and random names through where they are allowed, but not without end', async () => {
    const harness = makeHarness({ allow: ['*.cdn.example', 'other.example'] });
    const answers: string[] = [];
    for (let index = 0; index < 70; index++)
      answers.push(await ask(harness, `${data.slice(0, -2)}${10 + index}.cdn.example`));
    expect(answers.slice(0, 64).every((text) => text.startsWith('NOERROR 1:'))).toBe(true);
    expect(new Set(answers.slice(64))).toEqual(new Set(['REFUSED']));
    expect(harness.facts.at(-1)?.verdict).toEqual({
      isAllowed: false,
      rule: 'policy.yaml:1:1 net.allow: *.cdn.example',
      reason: 'looks like a tunnel: more than 64 random names by one rule',
    });
    expect(await ask(harness, 'www.cdn.example')).toMatch(/^NOERROR 1:/);
    expect(await ask(harness, `${data.slice(0, -2)}10.cdn.example`)).toMatch(/^NOERROR 1:/);
  });

  it('lets in a thousand names by one wildcard, and those of another rule after that', async () => {
    const harness = makeHarness({ allow: ['*.cdn.example', 'other.example'] });
    for (let index = 0; index < 1024; index++) await ask(harness, `n${index}.cdn.example`);
    expect(await ask(harness, 'n1024.cdn.example')).toBe('REFUSED');
    expect(harness.asked.length).toBe(1024);
    expect(await ask(harness, 'n7.cdn.example')).toBe('NOERROR 1:c6120008');
    expect(await ask(harness, 'other.example')).toMatch(/^NOERROR 1:/);
  });

  it('refuses when there is no address left', async () => {
    const harness = makeHarness({ allow: ['*.example'], maxNames: 1 });
    expect(await ask(harness, 'a.example')).toBe('NOERROR 1:c6120001');
    expect(await ask(harness, 'b.example')).toBe('REFUSED');
  });

  it('keeps localhost inside, whatever the rules say', async () => {
    const harness = makeHarness({ allow: ['a.example'] });
    const v6 = `NOERROR 28:${'0'.repeat(31)}1`;
    for (const name of ['localhost', 'LOCALHOST', 'app.localhost']) {
      expect(await ask(harness, name)).toBe('NOERROR 1:7f000001');
      expect(await ask(harness, name, { type: TYPE.AAAA })).toBe(v6);
      expect(await ask(harness, name, { type: TYPE.TXT })).toBe('NOERROR');
    }
    expect(await ask(harness, 'notlocalhost')).toBe('NXDOMAIN');
    expect(harness.asked).toEqual([]);
  });

  it('keeps the name of the machine inside, unless a rule names it', async () => {
    const ownNames = ['machine'];
    expect(await ask(makeHarness({ allow: ['a.example'], ownNames }), 'machine')).toBe(
      'NOERROR 1:7f000001',
    );
    expect(await ask(makeHarness({ allow: ['machine:22'], ownNames }), 'machine')).toBe(
      'NOERROR 1:c6120001',
    );
  });

  it('leads from its addresses back to names, and from no others', async () => {
    const harness = makeHarness({ allow: ['a.example'] });
    await ask(harness, 'a.example');
    const name = packName('a', 'example').toString('hex');
    const type = TYPE.PTR;
    expect(await ask(harness, '1.0.18.198.in-addr.arpa', { type })).toBe(`NOERROR 12:${name}`);
    expect(await ask(harness, '2.0.18.198.in-addr.arpa', { type })).toBe('NXDOMAIN');
    expect(await ask(harness, '7.113.0.203.in-addr.arpa', { type })).toBe('NXDOMAIN');
    expect(await ask(harness, '01.0.18.198.in-addr.arpa', { type })).toBe('NXDOMAIN');
    expect(harness.asked).toEqual(['a.example']);
  });

  it('refuses what is no host, in any other class or spelling', async () => {
    const harness = makeHarness({ allow: ['*:443', 'a.example'] });
    expect(await ask(harness, 'a.example', { class: 3 })).toBe('REFUSED');
    expect(await ask(harness, 'version.bind', { class: 3, type: TYPE.TXT })).toBe('REFUSED');
    const fixed = Buffer.from([0, 1, 0, 1]);
    for (const labels of [
      ['a.example'],
      ['a', 'example\0'],
      ['é'],
      [' a', 'example'],
      [],
      ['1', '2'],
    ])
      expect(await ask(harness, '', { body: Buffer.concat([packName(...labels), fixed]) })).toBe(
        'NXDOMAIN',
      );
    expect(harness.asked).toEqual([]);
  });

  it('never tells an address of the outside, whatever comes', async () => {
    const harness = makeHarness({
      allow: ['*'],
      outside: async () => ['203.0.113.77', '10.1.2.3'],
    });
    const label = fc.oneof(
      fc.string({ minLength: 1, maxLength: 20 }),
      fc.constantFrom('a', 'example'),
    );
    const query = fc.record({
      labels: fc.array(label, { maxLength: 5 }),
      type: fc.oneof(fc.nat(300), fc.constantFrom(1, 28, 12)),
      flags: fc.oneof(fc.constant(0x0100), fc.nat(0xffff)),
      raw: fc.option(fc.uint8Array({ maxLength: 600 })),
    });
    await fc.assert(
      fc.asyncProperty(query, async ({ labels, type, flags, raw }) => {
        const fixed = Buffer.from([type >> 8, type & 255, 0, 1]);
        const names = labels.map((text) => Buffer.from(text, 'latin1').subarray(0, 63));
        const body = Buffer.concat([packName(...names), fixed]);
        const message = raw ? Buffer.from(raw) : packQuery('', { body, flags });
        const bytes = await harness.filter.answer(message, 1);
        if (!bytes) return;
        const { counts, records } = readAnswer(bytes);
        expect(counts[1]).toBeLessThanOrEqual(1);
        for (const { type: kind, data: found } of records)
          expect(`${kind}:${found.toString('hex')}`).toMatch(/^(1:(c612|7f000001)|28:0{31}1$|12:)/);
      }),
      { numRuns: 1500 },
    );
  });

  it('answers a flood while the outside says nothing, in bounded memory', async () => {
    const harness = makeHarness({
      allow: ['*.example'],
      outside: () => new Promise(() => undefined),
    });
    const answers: (Buffer | undefined)[] = [];
    const floods = Array.from({ length: 5000 }, async (_, at) => {
      answers.push(await harness.filter.answer(packQuery(`n${at}.example`), 1));
    });
    expect(floods.length).toBe(5000);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(harness.asked.length).toBe(64);
    expect(answers.length).toBe(5000 - 64);
    expect(await ask(harness, 'not.allowed')).toBe('NXDOMAIN');
  });
});
