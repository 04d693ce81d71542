import type { BundleEvent } from '../../evidence/bundle/bundle.ts';
import { EVENT_TYPES } from '../../evidence/bundle/event-data.ts';
import type { Fact } from '../../evidence/bundle/facts.ts';
import { isRecord } from '../../evidence/bundle/shape.ts';

/*
 * Nothing checks the data of the older format, nor anything without verification: each part is looked at before it is
 * shown.
 */

export function describeAction(fact: Fact, { type }: BundleEvent): string {
  if ('op' in fact) return fact.op;
  if (fact.kind === 'change') return textOf(fact.change);
  if (fact.kind !== 'other') return '';
  const last = type.slice(type.lastIndexOf('.') + 1);
  return /^v\d+$/.test(last) ? '' : last;
}

export function describeSubject(fact: Fact, event: BundleEvent): string {
  switch (fact.kind) {
    case 'file':
    case 'program':
    case 'network':
    case 'limit':
    case 'folded':
      return describeLine(fact);
    case 'change':
      return textOf(fact.path);
    case 'degradation':
      return `${fact.rule}: ${fact.reason}`;
    case 'policy':
      return `${textOf(fact.name)} ${textOf(fact.digest)}`;
    case 'environment':
      return `${countOf(fact.passed)} passed, ${countOf(fact.removed)} removed`;
    case 'coverage':
      return Object.entries(isRecord(fact.surfaces) ? fact.surfaces : {})
        .map(([surface, one]) => `${surface} ${textOf(isRecord(one) ? one['status'] : one)}`)
        .join(', ');
    case 'other':
      return describeOther(event);
  }
}

function describeLine(fact: Extract<Fact, { op: string }>): string {
  const { path, target, refused_by: rule } = fact;
  const to = target === undefined ? '' : ` → ${target}`;
  return path + to + (rule === undefined ? '' : ` (${rule || 'nothing allows it'})`);
}

function describeOther({ type, subject, data }: BundleEvent): string {
  const { command, layers, end } = isRecord(data) ? data : {};
  if (Array.isArray(command)) return command.map(textOf).join(' ');
  if (type === EVENT_TYPES.layers && Array.isArray(layers))
    return layers
      .map((one: unknown) =>
        isRecord(one) ? `${textOf(one['layer'])} ${textOf(one['status'])}` : '',
      )
      .join(', ');
  if (isRecord(end)) return `exit code ${textOf(end['exit_code'])}`;
  return subject ?? type;
}

function countOf(value: unknown): number {
  return Array.isArray(value) ? value.length : 0;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
