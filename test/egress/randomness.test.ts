import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { looksRandom } from '../../src/egress/randomness.ts';

const digest = (text: string, coding: 'hex' | 'base64url'): string =>
  createHash('sha256').update(text).digest(coding).toLowerCase();

function toBase32(text: string): string {
  const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';
  const bits = [...createHash('sha256').update(text).digest()].flatMap((byte) =>
    byte.toString(2).padStart(8, '0').split(''),
  );
  const groups = Array.from({ length: 51 }, (_, at) => bits.slice(at * 5, at * 5 + 5).join(''));
  return groups.map((group) => alphabet[Number.parseInt(group, 2)]).join('');
}

describe('looksRandom()', () => {
  it.each([
    'www.example.org',
    'my-very-long-service-name-in-production.eu-central-1.example.org',
    'production-results-storage-account.blob.core.example.net',
    'd111111abcdef8.cdn.example.net',
    'e13678.dscb.edge.example.net',
    'r3---sn-4g5e6nzz.video.example.com',
    'ec2-203-0-113-25.compute-1.example.com',
    'lb-192-0-2-3-iad.example.com',
    'pipelinesghubeus12.actions.example.com',
    'a1.b2.c3.d4.example.org',
    'internationalization-and-localization.documentation.example.org',
    'xn--bcher-kva.example',
    '_sip._tcp.example.org',
    'kubernetes.default.svc.cluster.local',
  ])('takes %s for words', (name) => {
    expect(looksRandom(name)).toBe(false);
  });

  it('takes data for data, nearly always', () => {
    const texts = Array.from({ length: 200 }, (_, at) => `text ${at}`);
    const share = (make: (text: string) => string): number =>
      texts.filter((text) => looksRandom(make(text))).length / texts.length;
    expect(share((text) => `${digest(text, 'hex').slice(0, 32)}.t.example`)).toBeGreaterThan(0.9);
    expect(share((text) => `${toBase32(text)}.t.example`)).toBeGreaterThan(0.9);
    expect(share((text) => `${digest(text, 'base64url')}.t.example`)).toBeGreaterThan(0.9);
    const cut = (text: string): string => digest(text, 'hex').replaceAll(/(.{12})/g, '$1.');
    expect(share((text) => `${cut(text)}.t.example`)).toBeGreaterThan(0.9);
  });
});
