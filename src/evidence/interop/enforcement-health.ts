import { type Judgement, MalformedDocument } from './judgement.ts';
import { Shape } from './shape.ts';

export const HEALTH_SCHEMA = 'assay.enforcement_health.v1';

const FAILURES = [
  'landlock_abi_too_old',
  'landlock_disabled',
  'no_new_privs_failed',
  'restrict_self_failed',
  'ruleset_build_failed',
  'policy_not_expressible',
] as const;
const SHEDDING = ['restrictions_held', 'restrictions_shed', 'inconclusive'] as const;
const MAX_PORT = 65_535;

/** Whether a kernel restricted TCP by port, as version 1 of the carrier says it; members in the order of the file. */
interface EnforcementHealth {
  readonly schema: typeof HEALTH_SCHEMA;
  readonly status: 'active' | 'failed';
  readonly mechanism: 'landlock';
  readonly scope: 'tcp_connect_landlock_port';
  readonly policy_semantics: 'allowlist';
  readonly enforcement_class: 'strong' | 'standard' | 'basic';
  readonly failure?: { readonly reason_code: string; readonly detail: string };
  readonly landlock: LandlockHealth;
  readonly probe: ProbeHealth | null;
  readonly non_claims: readonly string[];
}

interface LandlockHealth {
  readonly abi: number;
  readonly net_connect_tcp_supported?: boolean;
  readonly handled_access_net?: readonly string[];
  readonly allowed_connect_tcp_ports?: readonly number[];
  readonly no_new_privs_confirmed: boolean;
  readonly restrict_self_confirmed: boolean;
  readonly restriction_shedding?: (typeof SHEDDING)[number];
}

interface ProbeHealth {
  readonly kind: 'real_block';
  readonly transport: 'ipv4';
  readonly blocked_action: 'tcp_connect';
  readonly blocked_port: number;
  readonly blocked_errno: string;
  readonly listener_reached: boolean;
}

export function readEnforcementHealth(value: unknown): EnforcementHealth {
  const shape = new Shape(value, '');
  shape.only([
    'schema',
    'status',
    'mechanism',
    'scope',
    'policy_semantics',
    'enforcement_class',
    'failure',
    'landlock',
    'probe',
    'non_claims',
  ]);
  return {
    schema: shape.oneOf('schema', [HEALTH_SCHEMA]),
    status: shape.oneOf('status', ['active', 'failed']),
    mechanism: shape.oneOf('mechanism', ['landlock']),
    scope: shape.oneOf('scope', ['tcp_connect_landlock_port']),
    policy_semantics: shape.oneOf('policy_semantics', ['allowlist']),
    enforcement_class: shape.oneOf('enforcement_class', ['strong', 'standard', 'basic']),
    ...(shape.has('failure') && { failure: readFailure(shape.object('failure')) }),
    landlock: readLandlock(shape.object('landlock')),
    probe: readProbe(shape, value),
    non_claims: shape.texts('non_claims'),
  };
}

function readFailure(shape: Shape): NonNullable<EnforcementHealth['failure']> {
  shape.only(['reason_code', 'detail']);
  return { reason_code: shape.oneOf('reason_code', FAILURES), detail: shape.text('detail') };
}

function readLandlock(shape: Shape): LandlockHealth {
  shape.only([
    'abi',
    'net_connect_tcp_supported',
    'handled_access_net',
    'allowed_connect_tcp_ports',
    'no_new_privs_confirmed',
    'restrict_self_confirmed',
    'restriction_shedding',
  ]);
  return {
    abi: shape.integer('abi'),
    ...(shape.has('net_connect_tcp_supported') && {
      net_connect_tcp_supported: shape.flag('net_connect_tcp_supported'),
    }),
    ...(shape.has('handled_access_net') && {
      handled_access_net: shape.texts('handled_access_net'),
    }),
    ...(shape.has('allowed_connect_tcp_ports') && {
      allowed_connect_tcp_ports: shape.integers('allowed_connect_tcp_ports', MAX_PORT),
    }),
    no_new_privs_confirmed: shape.flag('no_new_privs_confirmed'),
    restrict_self_confirmed: shape.flag('restrict_self_confirmed'),
    ...(shape.has('restriction_shedding') && {
      restriction_shedding: shape.oneOf('restriction_shedding', SHEDDING),
    }),
  };
}

function readProbe(parent: Shape, value: unknown): ProbeHealth | null {
  if (parent.has('probe') && (value as { probe: unknown }).probe === null) return null;
  const shape = parent.object('probe');
  shape.only([
    'kind',
    'transport',
    'blocked_action',
    'blocked_port',
    'blocked_errno',
    'listener_reached',
  ]);
  return {
    kind: shape.oneOf('kind', ['real_block']),
    transport: shape.oneOf('transport', ['ipv4']),
    blocked_action: shape.oneOf('blocked_action', ['tcp_connect']),
    blocked_port: shape.integer('blocked_port', MAX_PORT),
    blocked_errno: shape.text('blocked_errno'),
    listener_reached: shape.flag('listener_reached'),
  };
}

/** The bytes of the carrier: members in the order of the format, two spaces, a line break at the end. */
export function writeEnforcementHealth(health: EnforcementHealth): string {
  return `${JSON.stringify(health, null, 2)}\n`;
}

/** Active passes and failed fails; a carrier that contradicts itself is no carrier. */
export function judgeEnforcementHealth(value: unknown, text: string): Judgement {
  const health = readEnforcementHealth(value);
  const contradiction = findContradiction(health);
  if (contradiction !== undefined) throw new MalformedDocument(contradiction);
  const { status, failure, landlock, probe } = health;
  const isShed = landlock.restriction_shedding === 'restrictions_shed';
  const isHeld = status === 'active' && !isShed;
  const isExact = writeEnforcementHealth(health).trimEnd() === text.trimEnd();
  return {
    kind: 'enforcement-health',
    verdict: isHeld ? 'pass' : 'fail',
    reason: isHeld
      ? 'The restriction was active'
      : isShed
        ? 'The restriction was shed before the end'
        : `The restriction failed: ${failure?.reason_code ?? 'no reason given'}`,
    signals: [
      ...(isExact ? [] : ['It is not written as assay writes it: order of members, or spaces']),
      ...(status === 'active' && probe === null ? ['No probe has tried it out'] : []),
    ],
    report: {
      status,
      enforcement_class: health.enforcement_class,
      ports: landlock.allowed_connect_tcp_ports ?? [],
      probed: probe !== null,
      byte_identical: isExact,
    },
  };
}

function findContradiction(health: EnforcementHealth): string | undefined {
  const { status, failure, landlock, probe } = health;
  if (status === 'failed') {
    if (failure === undefined) return 'status is failed and failure is missing';
    if (landlock.restrict_self_confirmed && probe?.listener_reached === false)
      return 'status is failed, yet a probe was blocked';
    return undefined;
  }
  if (failure !== undefined) return 'status is active, yet there is a failure';
  if (!landlock.restrict_self_confirmed)
    return 'status is active, yet landlock.restrict_self_confirmed is false';
  if (!landlock.no_new_privs_confirmed)
    return 'status is active, yet landlock.no_new_privs_confirmed is false';
  if (landlock.handled_access_net?.includes('connect_tcp') !== true)
    return 'status is active, yet landlock.handled_access_net has no connect_tcp';
  if (probe?.listener_reached === true) return 'status is active, yet a probe got through';
  return undefined;
}
