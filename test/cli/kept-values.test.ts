import { describe, expect, it } from 'vitest';

import { hideKeptValues } from '../../src/cli/kept-values.ts';

describe('hideKeptValues()', () => {
  it.each([
    ['DEPLOY_PASSWORD', 'k3pt-from-9f8e7d', 'hidden'],
    ['API_KEY', 'zz81-qq72-ab', 'hidden'],
    // What is removed and is no secret, or stands in many names by itself.
    ['DB_PASSWORD', 'postgres', 'shown'],
    ['SSH_KEY', '/root/.ssh/id_rsa', 'shown'],
    ['LD_LIBRARY_PATH', 'k3pt-from-9f8e7d', 'shown'],
    ['DEPLOY_PASSWORD', 'hunter2', 'shown'],
  ])('of %s=%s: it is %s', (name, value, outcome) => {
    const hide = hideKeptValues({
      callerEnv: { [name]: value },
      environment: { scrubbed: [name] },
      injected: [],
    });
    expect(hide(`a/${value}/b`)).toBe(outcome === 'hidden' ? 'a/[redacted]/b' : `a/${value}/b`);
  });

  it('does not look at what was passed', () => {
    const callerEnv = { DEPLOY_PASSWORD: 'k3pt-from-9f8e7d' };
    const hide = hideKeptValues({ callerEnv, environment: { scrubbed: [] }, injected: [] });
    expect(hide('k3pt-from-9f8e7d')).toBe('k3pt-from-9f8e7d');
  });

  it('hides what is injected, with and without the word before it', () => {
    const hide = hideKeptValues({
      callerEnv: {},
      environment: { scrubbed: [] },
      injected: ['Bearer plainwords'],
    });
    expect(hide('Bearer plainwords, plainwords, Bearer')).toBe('[redacted], [redacted], Bearer');
  });
});
