import { isIP } from 'node:net';
import fc from 'fast-check';
import tr46 from 'tr46';
import { describe, expect, it } from 'vitest';
import { parseHost, parseHostPort } from '../../src/policy/host.ts';
import { isEncodedLabel, toAsciiName } from '../../src/policy/idn.ts';
import { formatEntry, parseNetTarget } from '../../src/policy/net-target.ts';
import { watchProcessor } from '../processor-time.ts';

function read(text: string): string | undefined {
  const host = parseHost(text);
  return 'problem' in host ? undefined : (host.name ?? host.address);
}

describe('parseHost()', () => {
  /** What some reader takes for a host, and what it takes it for; here it is refused, or is the same. */
  it.each([
    ['example.org', 'example.org'],
    ['EXAMPLE.Org', 'example.org'],
    ['example.org.', 'example.org'],
    ['xn--mnchen-3ya.example', 'xn--mnchen-3ya.example'],
    ['_srv._tcp.example.org', '_srv._tcp.example.org'],
    ['r4---sn-abc.example.org', 'r4---sn-abc.example.org'],
    ['localhost', 'localhost'],
    ['1.2.3.4', '1.2.3.4'],
    ['::FFFF:127.0.0.1', '127.0.0.1'],
    ['0:0:0:0:0:0:0:1', '::1'],
    ['127.1', undefined],
    ['127.0.1', undefined],
    ['2130706433', undefined],
    ['0x7f000001', undefined],
    ['0x7f.0.0.1', undefined],
    ['0x7f.1', undefined],
    ['0177.0.0.1', undefined],
    ['127.0.0.01', undefined],
    ['127.0.0.1.', undefined],
    ['127.0.0.0x1', undefined],
    ['1.2.3.4.5', undefined],
    ['example.0', undefined],
    ['256.1.1.1', undefined],
    ['fe80::1%eth0', undefined],
    ['[::1]', undefined],
    ['::1]', undefined],
    ['1.2.3.4:80', undefined],
    ['example.org:80', undefined],
    ['user@example.org', undefined],
    ['example.org@evil.org', undefined],
    ['example.org\0.evil.org', undefined],
    ['example.org\r\nHost: evil.org', undefined],
    [' example.org', undefined],
    ['example.org ', undefined],
    ['exa mple.org', undefined],
    ['example.org\t', undefined],
    ['example..org', undefined],
    ['.example.org', undefined],
    ['example.org..', undefined],
    ['.', undefined],
    ['', undefined],
    ['-a.org', undefined],
    ['a-.org', undefined],
    ['*.example.org', undefined],
    ['example.org/path', undefined],
    ['example.org\\evil.org', undefined],
    ['example.org#evil.org', undefined],
    ['example.org?evil.org', undefined],
    ['ex%61mple.org', undefined],
    ['%31%32%37.0.0.1', undefined],
    ['xn--a', undefined],
    ['xn--', undefined],
    ['xn--mnchen-3ya.xn--a', undefined],
    ['m\u00fcnchen.example', undefined],
    ['\uff45xample.org', undefined],
    ['example\u3002org', undefined],
    ['example\uff0eorg', undefined],
    ['\u2460.2.3.4', undefined],
    ['127\u30020\u30020\u30021', undefined],
    ['\u212a.org', undefined],
    ['exam\u00adple.org', undefined],
    ['ex\u200bample.org', undefined],
    [`${'a'.repeat(64)}.org`, undefined],
    [`${'a.'.repeat(127)}org`, undefined],
    ['a'.repeat(100_000), undefined],
  ])('%j is %j', (text, wanted) => expect(read(text)).toBe(wanted));

  it('takes for a name only what Node, too, resolves as that very name', () => {
    const unit = fc.constantFrom(
      ...Array.from('abzAZ019.-_xn:@/%\\ \0\u00e4\u3002\uff41\u00ad\u212a'),
    );
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 16 }), (text) => {
        const host = parseHost(text);
        if ('problem' in host) return;
        if (host.address !== undefined) expect(isIP(host.address)).not.toBe(0);
        else expect(new URL(`http://${host.name}/`).hostname).toBe(host.name);
        expect(parseHost(host.name ?? host.address)).toEqual(host);
      }),
      { numRuns: 20_000 },
    );
  });

  it('ends soon, however long the text is', () => {
    const spentMs = watchProcessor();
    for (const text of ['a.'.repeat(1e6), ':'.repeat(1e6), '1'.repeat(1e6), 'xn--'.repeat(1e6)])
      expect(read(text)).toBeUndefined();
    expect(spentMs()).toBeLessThan(500);
  });
});

describe('parseHostPort()', () => {
  it.each([
    ['example.org:443', { name: 'example.org', port: 443 }],
    ['Example.org.:1', { name: 'example.org', port: 1 }],
    ['[::1]:80', { address: '::1', port: 80 }],
    ['[::ffff:1.2.3.4]:65535', { address: '1.2.3.4', port: 65_535 }],
  ])('%s', (text, wanted) => expect(parseHostPort(text)).toEqual(wanted));

  it.each([
    'example.org',
    'example.org:',
    ':80',
    'example.org:0',
    'example.org:65536',
    'example.org:080',
    'example.org:+80',
    'example.org:80 ',
    'example.org:80:80',
    'example.org: 80',
    'example.org:\uff18\uff10',
    '::1:80',
    '::1',
    '[::1]',
    '[::1]80',
    '[1.2.3.4]:80',
    '[example.org]:80',
    '[[::1]]:80',
    'user@example.org:80',
    'user:pass@example.org:80',
    '127.1:80',
    '',
    'a'.repeat(100_000),
  ])('refuses %j', (text) => expect(parseHostPort(text)).toHaveProperty('problem'));
});

describe('toAsciiName()', () => {
  it.each([
    ['m\u00fcnchen.example', 'xn--mnchen-3ya.example'],
    ['fa\u00df.example', 'xn--fa-hia.example'],
    ['\u4f8b\u3048.\u30c6\u30b9\u30c8', 'xn--r8jz45g.xn--zckzah'],
    // Cyrillic letters that look like Latin ones: another host, and written as one.
    ['\u0430pple.example', 'xn--pple-43d.example'],
    ['example.org', 'example.org'],
  ])('%s is %s', (text, wanted) => expect(toAsciiName(text)).toBe(wanted));

  it.each([
    'M\u00dcNCHEN.example',
    'mu\u0308nchen.example',
    '\uff45xample.org',
    '\ufb01le.example',
    'example\u3002org',
    '\u212a.example',
    'ex\u00ad\u00e4mple.org',
    '\u{1f600}.example',
    'a\u0301\u0301@\u00e4',
  ])('refuses %s, which stands for something else or for nothing', (text) => {
    const ascii = toAsciiName(text);
    expect(typeof ascii === 'string' ? parseHost(ascii) : ascii).toHaveProperty('problem');
  });

  /** Bidi and joiners are about how a name looks; hyphens and length are judged for all labels alike. */
  const RULES = { checkBidi: false, checkJoiners: false, checkHyphens: false };

  /** What the tables of Unicode say of a name: the one way to write it in ASCII, if it stands for itself. */
  function ask(text: string): string | undefined {
    const ascii = tr46.toASCII(text, RULES);
    const back = tr46.toUnicode(ascii ?? '', RULES);
    return ascii !== null && !back.error && back.domain === text ? ascii : undefined;
  }

  it('takes the letters that the tables of Unicode take, and no others', () => {
    const wrong: string[] = [];
    for (let code = 0x80; code < 0x20000; code++) {
      if (code >= 0xd800 && code < 0xe000) continue;
      const label = `a${String.fromCodePoint(code)}`;
      const expected = ask(label);
      // A letter that is newer than the engine's own tables is refused.
      const wanted = /\p{Cn}/u.test(label) ? undefined : expected;
      if (expected !== undefined && isEncodedLabel(expected.slice(4)) !== (wanted !== undefined))
        wrong.push(code.toString(16));
      const ascii = toAsciiName(label);
      if (typeof ascii === 'string' && ascii !== wanted) wrong.push(code.toString(16));
    }
    expect(wrong).toEqual([]);
  });

  it('agrees with the tables of Unicode on whole names, written either way', () => {
    const unit = fc.constantFrom(
      ...Array.from('ab-1äößабв例えςا\u05d0İıſ\u0301\u00adᾀͅﬁ。\ufffdꭰᎠ'),
    );
    fc.assert(
      fc.property(fc.string({ unit, minLength: 1, maxLength: 12 }), (label) => {
        const expected = ask(label);
        const ascii = toAsciiName(label);
        if (typeof ascii === 'string' && !('problem' in parseHost(ascii)))
          expect(ascii).toBe(expected);
      }),
      { numRuns: 5000 },
    );
    const digits = fc.constantFrom(...Array.from('abcdxyz019-'));
    fc.assert(
      fc.property(fc.string({ unit: digits, minLength: 1, maxLength: 12 }), (code) => {
        const { domain, error } = tr46.toUnicode(`xn--${code}`, RULES);
        const isKnown = !error && !/\p{Cn}/u.test(domain);
        expect(isEncodedLabel(code)).toBe(isKnown && ask(domain) === `xn--${code}`);
      }),
      { numRuns: 5000 },
    );
  });
});

describe('formatEntry()', () => {
  it('names the host again, and never a set', () => {
    const hosts = fc.oneof(
      fc.constantFrom('github', 'npm', 'private', 'example.org', 'a').map((name) => ({ name })),
      fc.ipV4().map((address) => ({ address })),
      fc.constantFrom('::1', '2001:db8::1').map((address) => ({ address })),
    );
    const ports = fc.option(fc.integer({ min: 1, max: 65_535 }), { nil: undefined });
    fc.assert(
      fc.property(hosts, ports, (host, port) => {
        const target = parseNetTarget(formatEntry(host, port));
        const kind = 'name' in host ? 'host' : 'ip';
        expect(target).toMatchObject({ kind, ...('name' in host && host) });
        if (port !== undefined) expect(target).toMatchObject({ ports: { from: port, to: port } });
      }),
    );
  });
});
