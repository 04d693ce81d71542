import { afterEach, describe, expect, it } from 'vitest';
import { type LiveRules, makeEgressRules } from '../../src/egress/rules.ts';
import { SYSTEM_CLOCK } from '../../src/egress/system-clock.ts';
import { DoorKit } from './door-kit.ts';

let kit: DoorKit;
let rules: LiveRules | undefined;
afterEach(async () => {
  rules?.close();
  await kit.close();
});

async function open(...texts: readonly string[]): Promise<number> {
  const net = texts.map((text) => {
    const origin = { source: '--allow-net', key: 'net.allow', text };
    return { effect: 'allow' as const, text, origin };
  });
  rules = makeEgressRules({ policy: { net, inject: [] }, clock: SYSTEM_CLOCK });
  kit = await new DoorKit().open({ rules });
  kit.hosts.set('ok.test', ['127.0.0.1']);
  return kit.echo();
}

async function connect(target: string): Promise<string> {
  const client = await kit.dial();
  client.socket.end(`CONNECT ${target} HTTP/1.1\r\n\r\n`);
  return client.rest();
}

describe('the doors by the rules of a policy', () => {
  it('lead to a name at the host only where a rule means the host, too', async () => {
    const port = await open('ok.test');
    expect(await connect(`ok.test:${port}`)).toContain(' 403 ');
    const refused = await kit.fact();
    expect(refused.outcome).toBe('refused');
    expect(refused.address).toBeUndefined();
    rules?.close();
    await kit.close();
    const other = await open('ok.test', 'loopback');
    expect(await connect(`ok.test:${other}`)).toContain(' 200 ');
  });

  it('name the rule and the flag in a refusal', async () => {
    await open('ok.test:443');
    const text = await connect('ok.test:80');
    expect(JSON.parse(text.slice(text.indexOf('{')))).toMatchObject({
      error: 'refused',
      host: 'ok.test',
      port: 80,
      allow: '--allow-net ok.test:80',
    });
  });

  it('cut what was open when the rule is revoked', async () => {
    const port = await open('ok.test', 'loopback');
    const client = await kit.tunnel(`ok.test:${port}`);
    rules?.revoke('ok.test');
    expect(await client.rest()).toBe('reset');
    expect(await connect(`ok.test:${port}`)).toContain(' 403 ');
  });
});
