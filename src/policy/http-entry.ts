import { isCatchAll, parseNetTarget } from './net-target.ts';
import { quote, type Refusal } from './problems.ts';

/** The host of an entry that says what requests may be. */
export function checkRuledHost(text: string): Refusal | undefined {
  const target = parseNetTarget(text);
  if ('problem' in target) return target;
  return isCatchAll(target)
    ? {
        problem: `${quote(text)} is the host's network as a whole, in which no request is seen and nothing ends`,
        hint: 'name hosts or ports, such as *:443',
      }
    : undefined;
}

/** A secret goes to hosts that somebody has named. */
export function checkInjectHost(text: string): Refusal | undefined {
  const target = parseNetTarget(text);
  if ('problem' in target) return target;
  const isNamed =
    target.kind === 'host' || (target.kind === 'ip' && target.range.prefix === target.range.bits);
  return isNamed
    ? undefined
    : { problem: `${quote(text)} does not name a host`, hint: 'write one host or *.domain' };
}

export function checkMethod(text: string): Refusal | undefined {
  if (/^[A-Z][A-Z0-9-]{0,31}$/.test(text)) return undefined;
  return {
    problem: `${quote(text)} is not an HTTP method`,
    hint: 'methods are in upper case, such as GET',
  };
}

/** As requests have to be to be matched: nothing that a server may read otherwise. */
export function checkPath(text: string): Refusal | undefined {
  if (!/^\/[!-~]*$/.test(text) || /[?#%\\;*]|\/\/|\/\.{1,2}(?:\/|$)/.test(text)) {
    return {
      problem: `${quote(text)} is not a plain path`,
      hint: 'start with a slash; no query, escapes, wildcards, empty or dot segments',
    };
  }
  return undefined;
}

/** What frames a request or names its host is not for anyone to replace. */
const KEPT = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'trailer',
  'te',
  'upgrade',
  'expect',
  'keep-alive',
  'proxy-connection',
  'proxy-authorization',
]);

export function checkHeader(text: string): Refusal | undefined {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/.test(text))
    return { problem: `${quote(text)} is not the name of a header` };
  return KEPT.has(text.toLowerCase())
    ? { problem: `the header ${quote(text)} cannot be injected` }
    : undefined;
}

export function checkInjection(entry: Readonly<Record<string, unknown>>): Refusal | undefined {
  const { env, command } = entry;
  if ((env === undefined) === (command === undefined))
    return { problem: 'expected exactly one of `env` and `command`' };
  return Array.isArray(command) && command.length === 0
    ? { problem: '`command` names no program' }
    : undefined;
}
