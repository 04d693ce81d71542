import { describe, expect, it } from 'vitest';

import type { BundleEvent } from '../../../src/evidence/bundle/bundle.ts';
import { toFact } from '../../../src/evidence/bundle/facts.ts';

function event(type: string, data: unknown, subject?: string): BundleEvent {
  return {
    specversion: '1.0',
    type,
    source: 'urn:assay:sandbox',
    id: 'r:3',
    time: '2026-01-02T03:04:05.678Z',
    datacontenttype: 'application/json',
    subject,
    assayrunid: 'r',
    assayseq: 3,
    assayproducer: 'assay',
    assayproducerversion: '1',
    assaygit: 'unknown',
    assaypii: false,
    assaysecrets: false,
    assaycontenthash: 'sha256:0',
    data,
  };
}

describe('toFact()', () => {
  it('reads lines of ours', () => {
    const data = {
      op: 'write',
      path: '/a',
      outcome: 'EACCES',
      program: 'sh',
      refused_by: '',
      basis: 'performed',
    };
    expect(toFact(event('assay.sandbox.fs', { ...data, backend: 'broker' }, '/a'))).toEqual({
      seq: 3,
      type: 'assay.sandbox.fs',
      time: '2026-01-02T03:04:05.678Z',
      subject: '/a',
      kind: 'file',
      ...data,
    });
    expect(toFact(event('assay.sandbox.fs', { ...data, system: true }))).toMatchObject({
      system: true,
    });
  });

  it.each<[string, unknown, string | undefined, object]>([
    [
      'assay.sandbox.exec',
      { argv0: '/bin/true', hits: 1 },
      '/bin/true',
      { kind: 'program', op: 'run', path: '/bin/true', outcome: 'unknown' },
    ],
    ['assay.fs.access', { hits: 2 }, '/etc/x', { kind: 'file', op: 'access', path: '/etc/x' }],
    [
      'assay.net.connect',
      { host: 'a:1' },
      undefined,
      { kind: 'network', op: 'connect', path: 'a:1' },
    ],
    [
      'assay.process.exec',
      { cmd: 'ls' },
      '~/ls',
      { kind: 'program', path: 'ls', program: 'unknown' },
    ],
    ['assay.fs.access', 'text', undefined, { kind: 'file', path: '' }],
    [
      'assay.sandbox.degraded',
      { reason_code: 'x', component: 'landlock' },
      undefined,
      { kind: 'degradation', rule: 'landlock', reason: 'x' },
    ],
    [
      'assay.sandbox.degraded',
      { component: 'net', detail: 'why' },
      undefined,
      { kind: 'degradation', rule: 'net', reason: 'why' },
    ],
    [
      'assay.sandbox.change',
      { change: 'created', path: '/a' },
      undefined,
      { kind: 'change', path: '/a' },
    ],
    [
      'assay.sandbox.environment',
      { passed: ['A'], removed: [] },
      undefined,
      { kind: 'environment', passed: ['A'] },
    ],
    ['assay.sandbox.summary', {}, undefined, { kind: 'other' }],
    ['__proto__', {}, undefined, { kind: 'other' }],
  ])('reads %s of either format', (type, data, subject, fact) => {
    expect(toFact(event(type, data, subject))).toMatchObject(fact);
  });

  it.each([
    ['assay.sandbox.change', { path: 1 }],
    ['assay.sandbox.environment', { passed: 'A' }],
    ['assay.sandbox.coverage', null],
    ['assay.sandbox.policy', { name: 'x' }],
  ])('does not take %s at its word when the data are something else', (type, data) => {
    expect(toFact(event(type, data)).kind).toBe('other');
  });

  it('lets no member of the data take the place of an attribute', () => {
    const data = { change: 'created', path: '/a', kind: 'program', seq: 9, type: 'x', time: 'y' };
    expect(toFact(event('assay.sandbox.change', data))).toEqual({
      seq: 3,
      type: 'assay.sandbox.change',
      time: '2026-01-02T03:04:05.678Z',
      kind: 'change',
      change: 'created',
      path: '/a',
    });
  });
});
