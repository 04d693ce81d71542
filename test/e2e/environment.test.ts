import { expect, it } from 'vitest';

import { describeForEachPerson } from './as-user.ts';
import { usePlaces } from './place.ts';
import { runAssay, runForSummary, runScript } from './run-assay.ts';

const SECRETS = {
  TOKEN: 'value-1-of-secret',
  DB_PASS: 'value-2-of-secret',
  AWS_SECRET_ACCESS_KEY: 'value-3-of-secret',
  github_token: 'value-4-of-secret',
  SENTRY_DSN: 'value-5-of-secret',
  https_proxy: 'http://user:value-6-of-secret@proxy.example:3128',
  SSH_AUTH_SOCK: '/tmp/value-7-of-secret',
};
const STEERING = {
  LD_PRELOAD: '/nonexistent.so',
  NODE_OPTIONS: '--no-warnings',
  PYTHONSTARTUP: '/x',
  BASH_ENV: '/x',
  GIT_SSH_COMMAND: '/x',
};

describeForEachPerson('the environment', (person) => {
  const makePlace = usePlaces(person);

  it('has no secret in it, and none is to be read from any process inside', async () => {
    const script = `env; cat /proc/*/environ | tr '\\0' '\\n'; cat /proc/*/cmdline | tr '\\0' '\\n'`;
    for (const flags of [
      [],
      ['--layers=-pid'],
      ['--layers=-user'],
      ['--layers=-pid,-landlock'],
      ['--preset', 'coding-agent', '--deny', '*.pem'],
    ]) {
      const { stdout } = await runScript(makePlace(), script, { env: SECRETS, flags });
      expect(stdout, flags.join()).not.toContain('of-secret');
      expect(stdout).toContain('PATH=');
    }
  });

  it('does not steer which code runs', async () => {
    const { outcome, summary } = await runForSummary({
      place: makePlace(),
      command: ['/usr/bin/env'],
      env: STEERING,
    });
    for (const name of Object.keys(STEERING)) expect(outcome.stdout).not.toContain(`${name}=`);
    expect(summary.environment.stripped).toEqual(expect.arrayContaining(Object.keys(STEERING)));
  });

  it('passes on what --env-allow names, all with --env-passthrough, and little with --env-strict', async () => {
    const env = { ...SECRETS, PLAIN: 'plain' };
    const run = async (flags: string[]): Promise<string> =>
      (
        await runAssay({
          place: makePlace(),
          flags: ['-q', ...flags],
          command: ['/usr/bin/env'],
          env,
        })
      ).stdout;
    expect(await run(['--env-allow', 'TOKEN,DB_PASS'])).toMatch(
      /TOKEN=value-1[\s\S]*|DB_PASS=value-2/,
    );
    expect(await run(['--env-allow', 'TOKEN'])).not.toContain('value-2');
    const passed = await run(['--env-passthrough']);
    for (const name of Object.keys(SECRETS)) expect(passed).toContain(`${name}=`);
    const strict = await run(['--env-strict']);
    expect(strict).not.toContain('PLAIN=');
    expect(strict).toContain('PATH=');
  });

  it('keeps values with newlines, equal signs and bytes that are no UTF-8', async () => {
    const { stdout } = await runScript(makePlace(), 'printf "%s|%s|%s" "$ODD" "$EMPTY" "$EQUAL"', {
      env: { ODD: 'two\nlines', EMPTY: '', EQUAL: 'a=b=c' },
    });
    expect(stdout).toBe('two\nlines||a=b=c');
  });

  it('shows the names that were removed with --verbose, never a value', async () => {
    const { stderr } = await runAssay({
      place: makePlace(),
      flags: ['--verbose'],
      command: ['true'],
      env: { ...SECRETS, ...STEERING },
    });
    expect(stderr).toContain('DB_PASS');
    expect(stderr).toContain('LD_PRELOAD');
    expect(stderr).not.toContain('of-secret');
  });
});
