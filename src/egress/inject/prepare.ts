import { decide } from '../../policy/decide.ts';
import type { Policy } from '../../policy/policy.ts';
import { RunAuthority } from './authority.ts';
import { readRoots } from './roots.ts';
import { type InjectedValues, readInjectedValues, type ValueSource } from './values.ts';
import { findWithheld } from './withheld.ts';

/** What a run needs to add headers and to open TLS; made before anything runs. */
export interface Injection {
  readonly values: InjectedValues;
  /** Variables that the program must not get, since a value is in them. */
  readonly withheld: ReadonlySet<string>;
  /** Undefined when no entry has TLS opened. */
  readonly opening?: TlsOpening | undefined;
}

export interface TlsOpening {
  readonly authority: RunAuthority;
  readonly rootsPem: string;
  /** What the program is to trust: what the user does, and the authority of the run. */
  readonly bundlePem: string;
}

export interface InjectionInput {
  readonly policy: Pick<Policy, 'fs' | 'net' | 'inject'>;
  /** Of the user. */
  readonly env: Readonly<Record<string, string>>;
  readonly now: () => number;
  readonly limits?: ValueSource['limits'];
}

/** Throws when a value cannot be had: then nothing is to run. */
export async function prepareInjection(input: InjectionInput): Promise<Injection> {
  const { policy, env, now, limits } = input;
  const canProgramWrite = (path: string): boolean =>
    decide(policy, { op: 'write', path }).outcome === 'allow';
  const values = await readInjectedValues(policy.inject, { env, canProgramWrite, limits });
  const isTlsOpened = [...policy.inject, ...policy.net].some((rule) => rule.isTlsOpened === true);
  return {
    values,
    withheld: findWithheld(env, values),
    ...(isTlsOpened && { opening: makeOpening(env, now) }),
  };
}

function makeOpening(env: InjectionInput['env'], now: () => number): TlsOpening {
  const authority = new RunAuthority(now);
  const rootsPem = readRoots(env);
  return { authority, rootsPem, bundlePem: `${rootsPem.trimEnd()}\n${authority.certificatePem}` };
}
