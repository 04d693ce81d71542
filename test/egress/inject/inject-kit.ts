import { execFileSync } from 'node:child_process';
import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Destination, Verdict } from '../../../src/egress/egress.ts';
import { makeCertificate, toPem } from '../../../src/egress/inject/certificate.ts';
import { prepareInjection, type Injection } from '../../../src/egress/inject/prepare.ts';
import { RunInterceptor } from '../../../src/egress/inject/run-interceptor.ts';
import { type LiveRules, makeEgressRules } from '../../../src/egress/rules.ts';
import { SYSTEM_CLOCK } from '../../../src/egress/system-clock.ts';
import type { InjectRule, NetRule } from '../../../src/policy/policy.ts';
import { DoorKit } from '../door-kit.ts';

const ORIGIN = { source: 'policy.yaml:3:5', key: 'net.inject', text: '' };
export const SECRET = 'tok-5d1c9b7e2f';

export function injectInto(
  host: string,
  more: Partial<Omit<InjectRule, 'text' | 'origin'>> = {},
): InjectRule {
  const from = { env: 'API_TOKEN' } as const;
  const origin = { ...ORIGIN, text: host };
  return { text: host, header: 'Authorization', from, isTlsOpened: false, origin, ...more };
}

export function allow(text: string, more: Partial<NetRule> = {}): NetRule {
  return { effect: 'allow', text, origin: { ...ORIGIN, key: 'net.allow', text }, ...more };
}

/** Certificates of an authority made by openssl, which no other test trusts. */
export class TestAuthority implements Disposable {
  readonly dir = mkdtempSync(join(tmpdir(), 'authority-'));
  readonly file = join(this.dir, 'ca.pem');

  constructor() {
    this.#run('req', '-x509', '-out', 'ca.pem', '-keyout', 'ca.key', '-subj', '/CN=Test CA');
  }

  /** A key and a certificate for `names`, such as `DNS:api.test`. */
  issue(names: string, { isSelfSigned = false } = {}): { key: Buffer; cert: Buffer } {
    const signer = isSelfSigned ? [] : ['-CA', 'ca.pem', '-CAkey', 'ca.key'];
    const made = ['-out', 'leaf.pem', '-keyout', 'leaf.key', '-subj', '/CN=leaf'];
    const extension = ['-addext', `subjectAltName=${names}`];
    this.#run('req', '-x509', ...signer, ...made, ...extension, '-days', '2');
    return { key: this.#read('leaf.key'), cert: this.#read('leaf.pem') };
  }

  get certificatePem(): string {
    return String(this.#read('ca.pem'));
  }

  /** One whose time is over, which openssl does not make. */
  issueExpired(host: string): { key: Buffer; cert: Buffer } {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const key = createPrivateKey(this.#read('ca.key'));
    const issuer = { commonName: 'Test CA', key, publicKey: createPublicKey(key) };
    const now = Date.now();
    const period = { fromMs: now - 7_200_000, untilMs: now - 3_600_000 };
    const made = makeCertificate({ publicKey, commonName: 'leaf', issuer, host, ...period });
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' });
    return { key: Buffer.from(pem), cert: Buffer.from(toPem(made)) };
  }

  write(name: string, text: string): string {
    writeFileSync(join(this.dir, name), text);
    return join(this.dir, name);
  }

  #run(command: string, ...args: readonly string[]): void {
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
    execFileSync('openssl', [command, ...key, ...args], { cwd: this.dir, stdio: 'ignore' });
  }

  #read(name: string): Buffer {
    return readFileSync(join(this.dir, name));
  }

  [Symbol.dispose](): void {
    rmSync(this.dir, { recursive: true, force: true });
  }
}

export interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly httpVersion: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** Doors with an interceptor, and servers that keep what they were asked. */
export class InjectKit {
  readonly door = new DoorKit();
  readonly seen: Seen[] = [];
  injection!: Injection;
  live!: LiveRules;

  async open(
    policy: { readonly net: readonly NetRule[]; readonly inject: readonly InjectRule[] },
    env: Readonly<Record<string, string>> = {},
  ): Promise<this> {
    const { door } = this;
    this.injection = await prepareInjection({
      policy: { ...policy, fs: [] },
      env: { API_TOKEN: SECRET, ...env },
      now: Date.now,
    });
    this.live = makeEgressRules({ policy, clock: SYSTEM_CLOCK });
    for (const { text } of policy.net) {
      door.rules.allowed.add(text);
      door.hosts.set(text, ['127.0.0.1']);
    }
    // Names lead to loopback here, which the real rules would refuse; requests are theirs to judge.
    const { rules } = door;
    rules.isInspected = (destination: Destination): boolean => this.live.isInspected(destination);
    rules.decideRequest = (destination, request): Verdict =>
      this.live.decideRequest(destination, request);
    await door.open({ interceptor: new RunInterceptor(this.live, this.injection) });
    return this;
  }

  async serve(tls?: { readonly key: Buffer; readonly cert: Buffer }): Promise<number> {
    const listener: RequestListener = (request, response) => {
      this.see(request);
      if (request.url?.startsWith('/go?')) {
        response.writeHead(302, { location: decodeURIComponent(request.url.slice(4)) });
      }
      response.end('answer\n');
    };
    const server: Server = tls ? createSecureServer(tls, listener) : createServer(listener);
    return this.door.listen(server);
  }

  see({ method, url, httpVersion, headers }: IncomingMessage): void {
    this.seen.push({ method, url, httpVersion, headers });
  }

  /** What the servers got under this name, in order. */
  values(header = 'authorization'): unknown[] {
    return this.seen.map(({ headers }) => headers[header]);
  }

  async close(): Promise<void> {
    this.live.close();
    await this.door.close();
  }
}
