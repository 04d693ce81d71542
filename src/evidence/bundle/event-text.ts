import { canonicalJson } from '../../core/canonical-json.ts';
import type { BundleEvent } from './bundle.ts';

type Shared = Pick<
  BundleEvent,
  | 'assaygit'
  | 'assaypii'
  | 'assaypolicyid'
  | 'assayproducer'
  | 'assayproducerversion'
  | 'assayrunid'
  | 'assaysecrets'
>;

/**
 * Writes events as canonical JSON, given that of their data. Attributes that are not of the format are left out. Most
 * of an event is the same in all events of a run, and is made only once.
 */
export class EventWriter {
  #shared: Shared | undefined;
  #sharedText = '';

  write(event: BundleEvent, dataText: string): string {
    const start = member('assaycontenthash', event.assaycontenthash) + this.#writeShared(event);
    const type = member('datacontenttype', event.datacontenttype);
    const end =
      member('id', event.id) +
      member('source', event.source) +
      member('specversion', event.specversion) +
      member('subject', event.subject) +
      member('time', event.time) +
      member('traceparent', event.traceparent) +
      member('tracestate', event.tracestate);
    return `{${start}"assayseq":${event.assayseq},"data":${dataText},${type}${end}"type":${quote(event.type)}}`;
  }

  #writeShared(event: BundleEvent): string {
    const last = this.#shared;
    if (
      last?.assayrunid === event.assayrunid &&
      last.assaygit === event.assaygit &&
      last.assaypii === event.assaypii &&
      last.assaypolicyid === event.assaypolicyid &&
      last.assayproducer === event.assayproducer &&
      last.assayproducerversion === event.assayproducerversion &&
      last.assaysecrets === event.assaysecrets
    )
      return this.#sharedText;
    this.#shared = event;
    this.#sharedText =
      `${member('assaygit', event.assaygit)}"assaypii":${event.assaypii},` +
      member('assaypolicyid', event.assaypolicyid) +
      member('assayproducer', event.assayproducer) +
      member('assayproducerversion', event.assayproducerversion) +
      `${member('assayrunid', event.assayrunid)}"assaysecrets":${event.assaysecrets},`;
    return this.#sharedText;
  }
}

function member(name: string, value: string | undefined): string {
  return value === undefined ? '' : `"${name}":${quote(value)},`;
}

/** Canonical JSON of a string, which says more about one that has none. */
function quote(value: string): string {
  const text = JSON.stringify(value);
  return text.includes(String.raw`\ud`) ? canonicalJson(value) : text;
}
