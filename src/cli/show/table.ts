import { toPrintable } from '../../core/printable.ts';
import type { BundleEvent, BundleManifest } from '../../evidence/bundle/bundle.ts';
import type { Fact } from '../../evidence/bundle/facts.ts';
import { describeAction, describeSubject } from './cells.ts';

export interface TableOptions {
  readonly manifest: BundleManifest;
  /** One line on how far the bundle can be trusted. */
  readonly trust: string;
  /** Of the terminal; undefined where there is none, and nothing is cut. */
  readonly columns: number | undefined;
}

const COLUMNS = { kind: 11, action: 9, outcome: 8, subject: 44 } as const;
const TIME_LENGTH = 24;
const MIN_SUBJECT = 20;

/** The events of a bundle as a table, row by row, since there may be many. */
export class EventTable {
  readonly #options: TableOptions;
  readonly #seqWidth: number;

  constructor(options: TableOptions) {
    this.#options = options;
    this.#seqWidth = Math.max(3, String(options.manifest.event_count).length);
  }

  head(): string {
    const { manifest, trust } = this.#options;
    const { bundle_id, run_id, producer, event_count } = manifest;
    const lines = [
      ['Bundle', bundle_id],
      ['Run', run_id],
      ['Producer', `${producer.name} ${producer.version}`],
      ['Events', String(event_count)],
      ['Verified', trust],
    ].map(([name = '', value = '']) => `${name.padEnd(9)} ${toPrintable(value)}`);
    const names = this.#join(['SEQ', 'TIME', 'KIND', 'ACTION', 'OUTCOME', 'SUBJECT', 'PROGRAM']);
    return `${lines.join('\n')}\n\n${names}\n`;
  }

  row(fact: Fact, event: BundleEvent): string {
    const isLine = 'outcome' in fact;
    const refused = isLine && fact.refused_by !== undefined;
    const cells = [
      String(event.assayseq),
      shortenTime(event.time),
      fact.kind,
      describeAction(fact, event),
      isLine ? (refused ? 'refused' : fact.outcome) : '',
      describeSubject(fact, event),
      isLine ? fact.program : '',
    ];
    return `${this.#join(cells.map(toCell))}\n`;
  }

  #join([seq = '', time = '', kind = '', action = '', outcome = '', ...rest]: string[]): string {
    const [subject = '', program = ''] = rest;
    const fixed = [
      seq.padStart(this.#seqWidth),
      time.padEnd(TIME_LENGTH),
      kind.padEnd(COLUMNS.kind),
      action.padEnd(COLUMNS.action),
      outcome.padEnd(COLUMNS.outcome),
    ].join('  ');
    const { columns } = this.#options;
    if (columns === undefined)
      return `${fixed}  ${subject.padEnd(COLUMNS.subject)}  ${program}`.trimEnd();
    const left = Math.max(MIN_SUBJECT, columns - fixed.length - 2);
    const forProgram = program === '' ? 0 : Math.min(program.length, Math.floor(left / 3));
    const forSubject = left - (forProgram > 0 ? forProgram + 2 : 0);
    const wide = cut(subject, forSubject).padEnd(Math.min(forSubject, COLUMNS.subject));
    return `${fixed}  ${wide}  ${cut(program, forProgram)}`.trimEnd();
  }
}

/** The end of a path tells more than its start. */
function cut(text: string, width: number): string {
  return text.length <= width ? text : `…${text.slice(text.length - width + 1)}`;
}

/** To the millisecond, which is what assay writes; the older format may have more. */
function shortenTime(time: string): string {
  return time.replace(/^(.{23})\d+Z$/, '$1Z');
}

/** What the older format does not say is left open. */
function toCell(text: string): string {
  return text === 'unknown' ? '' : toPrintable(text);
}
