import { createSecureContext, type SecureContext } from 'node:tls';
import type { Destination } from '../egress.ts';
import type { Field } from '../http-head.ts';
import type { Interceptor, PlainSides, RequestSeen, TlsSides } from '../interceptor.ts';
import type { LiveRules } from '../rules.ts';
import { injectFields } from './fields.ts';
import { openTls } from './open-tls.ts';
import type { Injection } from './prepare.ts';
import { listCertificates } from './roots.ts';

const HANDSHAKE_MS = 20_000;

/** Adds headers and opens TLS by the rules of one run. */
export class RunInterceptor implements Interceptor {
  readonly #rules: Pick<LiveRules, 'findInjections' | 'isTlsOpened'>;
  readonly #injection: Injection;
  /** Reading some hundred certificates takes a while: once, and only when one is needed. */
  #roots: SecureContext | undefined;

  constructor(rules: Pick<LiveRules, 'findInjections' | 'isTlsOpened'>, injection: Injection) {
    this.#rules = rules;
    this.#injection = injection;
  }

  isWanted(destination: Destination): boolean {
    return this.#injection.opening !== undefined && this.#rules.isTlsOpened(destination);
  }

  async open(sides: TlsSides): Promise<PlainSides> {
    const { opening } = this.#injection;
    if (!opening) throw new Error('no TLS is opened in this run');
    const { authority, rootsPem } = opening;
    this.#roots ??= createSecureContext({ ca: listCertificates(rootsPem) });
    return openTls(sides, { authority, roots: this.#roots, handshakeMs: HANDSHAKE_MS });
  }

  editFields(seen: RequestSeen, fields: readonly Field[]): readonly Field[] {
    const rules = this.#rules.findInjections(seen.destination);
    if (rules.length === 0) return fields;
    return injectFields(fields, { ...seen, rules, values: this.#injection.values });
  }
}
