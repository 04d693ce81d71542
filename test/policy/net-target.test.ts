import { describe, expect, it } from 'vitest';
import { decideNet } from '../../src/policy/decide-net.ts';
import { parseHost } from '../../src/policy/host.ts';
import { isCatchAll, matchesTarget, parseNetTarget } from '../../src/policy/net-target.ts';
import { judgeAddress } from '../../src/policy/net-judge.ts';
import { compileNetRules } from '../../src/policy/net-rules.ts';
import type { NetRule } from '../../src/policy/policy.ts';

function matches(entry: string, host: string, port?: number): boolean {
  const target = parseNetTarget(entry);
  if ('problem' in target) throw new Error(target.problem);
  const parsed = parseHost(host);
  if ('problem' in parsed) throw new Error(parsed.problem);
  return matchesTarget(target, parsed, port);
}

describe('parseNetTarget()', () => {
  it.each([
    ['example.com', 'EXAMPLE.com.', 443, true],
    ['example.com', 'www.example.com', 443, false],
    ['example.com:443', 'example.com', 443, true],
    ['example.com:443', 'example.com', 80, false],
    ['*.example.com', 'a.b.example.com', 1, true],
    ['*.example.com', 'example.com', 1, false],
    ['*.example.com', 'badexample.com', 1, false],
    ['10.0.0.0/8', '10.255.0.1', 1, true],
    ['10.0.0.0/8', '11.0.0.1', 1, false],
    ['127.0.0.1', '::ffff:127.0.0.1', 1, true],
    ['::1', '0:0:0:0:0:0:0:1', 1, true],
    ['[::1]:80', '::1', 81, false],
    ['fe80::/10', 'fe80::abcd', 1, true],
    ['0.0.0.0/0', '8.8.8.8', 1, true],
    ['0.0.0.0/0', 'example.com', 1, false],
    ['443', 'any.host', 443, true],
    ['tcp/443', '1.2.3.4', 80, false],
    ['tcp:443', '1.2.3.4', 443, true],
    ['*', '::1', 9, true],
    ['*:22', 'h.example', 23, false],
    ['10.0.0.0/8:22', '10.1.1.1', 22, true],
  ])('%s, asked for %s port %d: %s', (entry, host, port, expected) =>
    expect(matches(entry, host, port)).toBe(expected),
  );

  it('refuses what would be read differently elsewhere', () => {
    const entries = [
      'https://example.com',
      '127.1',
      '0x7f.0.0.1',
      '010.0.0.1',
      '1.2.3.4/33',
      '::1::',
      'a b',
      '-x.com',
      'h:0',
      'h:65536',
      '70000',
      'example.com/24',
      '*/8',
      '8000-8100',
      'exa_mple..com',
      '[::1',
      'ho*st',
      '',
    ];
    expect(entries.map((entry) => [entry, parseNetTarget(entry)])).toMatchSnapshot();
  });

  it('knows what stands for everything', () => {
    const isAll = (entry: string) => {
      const target = parseNetTarget(entry);
      return 'kind' in target && isCatchAll(target);
    };
    expect(['*', '0.0.0.0/0', '::/0'].every(isAll)).toBe(true);
    expect(['*:80', '443', '0.0.0.0/1', 'example.com'].some(isAll)).toBe(false);
  });
});

describe('decideNet()', () => {
  const rule = (effect: NetRule['effect'], text: string): NetRule => ({
    effect,
    text,
    origin: { source: 'test', key: `net.${effect}`, text },
  });

  it('lets a deny beat an allow', () => {
    const net = [rule('allow', '*.example.com'), rule('deny', 'bad.example.com')];
    expect(decideNet({ net }, { host: { name: 'bad.example.com' }, port: 443 }).outcome).toBe(
      'deny',
    );
    expect(decideNet({ net }, { host: { name: 'ok.example.com' }, port: 443 }).outcome).toBe(
      'allow',
    );
  });

  it('takes a deny of everything as the default, next to which allows stand', () => {
    const net = [rule('allow', '127.0.0.1'), rule('deny', '0.0.0.0/0')];
    expect(decideNet({ net }, { host: { address: '127.0.0.1' }, port: 80 }).outcome).toBe('allow');
    expect(decideNet({ net }, { host: { address: '8.8.8.8' }, port: 53 })).toMatchObject({
      outcome: 'deny',
      rule: net[1],
    });
  });

  it('refuses what nothing allows', () => {
    expect(decideNet({ net: [] }, { host: { name: 'example.com' } })).toMatchObject({
      outcome: 'deny',
      rule: undefined,
    });
  });
});

describe('judgeAddress()', () => {
  it("takes a rule for the loopback inside for nothing of the host's", () => {
    const text = '127.0.0.0/8';
    const rules = compileNetRules([
      { effect: 'allow', text, origin: { source: 'test', key: 'net.allow', text } },
    ]);
    const address = { bits: 32, value: 0x7f000001n } as const;
    expect(judgeAddress(rules, { address, port: 80, isResolved: true }).isAllowed).toBe(false);
    expect(judgeAddress(rules, { address, port: 80, isResolved: false }).isAllowed).toBe(false);
  });
});
