import { toPrintable } from '../../core/printable.ts';
import type { BundleEvent } from '../bundle/bundle.ts';
import { toFact } from '../bundle/facts.ts';
import type { EventSource } from './event-source.ts';

const COLUMNS = [
  'seq',
  'time',
  'type',
  'kind',
  'op',
  'subject',
  'target',
  'outcome',
  'refused',
  'rule',
  'program',
  'digest',
  'data',
] as const;

type Row = Partial<Record<(typeof COLUMNS)[number], string>>;

/** A table by RFC 4180, one row for each event. Names are made harmless for whatever opens it. */
export function* exportCsv({ events }: EventSource): Iterable<string> {
  yield writeRow(COLUMNS);
  for (const event of events()) {
    const row = toRow(event);
    yield writeRow(COLUMNS.map((column) => row[column] ?? ''));
  }
}

function toRow(event: BundleEvent): Row {
  const fact = toFact(event);
  const base = { seq: String(event.assayseq), time: event.time, type: event.type, kind: fact.kind };
  switch (fact.kind) {
    case 'file':
    case 'program':
    case 'network':
    case 'limit':
    case 'folded': {
      const { op, path, target, outcome, refused_by, program, digest } = fact;
      return {
        ...base,
        op,
        subject: path,
        target,
        outcome,
        program,
        digest,
        refused: refused_by === undefined ? 'no' : 'yes',
        rule: refused_by,
      } as Row;
    }
    case 'change':
      return { ...base, op: fact.change, subject: fact.path, outcome: 'ok' };
    case 'degradation':
      return { ...base, subject: fact.rule, rule: fact.rule, outcome: fact.reason };
    case 'policy': {
      // The policy itself does not fit into a cell.
      const { name, digest, default: isDefault } = fact;
      return { ...base, subject: name, digest, data: JSON.stringify({ default: isDefault }) };
    }
    default:
      return { ...base, subject: event.subject ?? '', data: JSON.stringify(event.data) };
  }
}

function writeRow(fields: readonly string[]): string {
  return `${fields.map(writeField).join(',')}\r\n`;
}

/** In front of these, after any white space, a spreadsheet sees a formula; in their wide forms, too. */
const FORMULA = /^[\s\u3000]*[=+\-@\uff1d\uff0b\uff0d\uff20|%]/;

/** Control characters are spelt out, so that a row is a line; what would be a formula gets a quote before it. */
function writeField(value: string): string {
  const plain = toPrintable(value);
  const text = FORMULA.test(plain) ? `'${plain}` : plain;
  return /^[\w.:/$@{}~+-]*$/.test(text) ? text : `"${text.replaceAll('"', '""')}"`;
}
