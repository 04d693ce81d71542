import type { AttackReport, AttackResult } from '../launch/selftest/selftest.ts';

/** `assay selftest --json` prints exactly this. */
export interface SelftestReport {
  readonly schema: 'assay.selftest.v1';
  readonly policy: string;
  readonly counts: Readonly<Record<'held' | 'gotThrough' | 'allowed' | 'notRun', number>>;
  readonly attacks: readonly AttackReport[];
}

export function makeSelftestReport(
  policy: string,
  attacks: readonly AttackReport[],
): SelftestReport {
  const count = (result: AttackResult): number =>
    attacks.filter((attack) => attack.result === result).length;
  return {
    schema: 'assay.selftest.v1',
    policy,
    counts: {
      held: count('held'),
      gotThrough: count('got through'),
      allowed: count('allowed by policy'),
      notRun: count('not run'),
    },
    attacks,
  };
}

const SHOWN: Readonly<Record<AttackResult, string>> = {
  held: 'held',
  'got through': 'GOT THROUGH',
  'allowed by policy': 'allowed by policy',
  'not run': 'not run',
};

function formatCells(attack: string, control: string, result: string): string {
  return `${attack.padEnd(WIDTH)}  ${control.padEnd(9)} ${result}`;
}

const WIDTH = 68;

export function formatAttackReport({ id, title, control, result, reason }: AttackReport): string {
  const end = reason ? `${SHOWN[result]}: ${reason}` : SHOWN[result];
  return formatCells(`${id.padEnd(20)} ${title}`, control, end);
}

/** The control is the same program without the sandbox: where it fails, the attack would prove nothing. */
export function formatHeading(policy: string): string {
  return `Policy: ${policy}\n${formatCells('ATTACK', 'CONTROL', 'RESULT')}`;
}

export function formatVerdict({
  held,
  gotThrough,
  allowed,
  notRun,
}: SelftestReport['counts']): string {
  const parts = [`${held} held`, `${gotThrough} got through`];
  if (allowed > 0) parts.push(`${allowed} allowed by the policy`);
  parts.push(`${notRun} not run`);
  return parts.join(', ');
}
