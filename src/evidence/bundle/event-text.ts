import type { BundleEvent } from './bundle.ts';

/**
 * Writes events as they stand in a bundle, to be compared with how they do: for an event whose hash, id, time and type
 * need an escape, something comes out that no event has been read from. Most of an event is the same in all events of a
 * run, and is written only once.
 */
export class EventText {
  #last: BundleEvent | undefined;
  /** From the end of the hash to the number, from the data to the id, and from there to the subject. */
  #parts: readonly [string, string, string] = ['', '', ''];

  /** `dataText` is the canonical JSON of the data. Attributes that are not of the format are left out. */
  write(event: BundleEvent, dataText: string): string {
    if (!this.#last || !isAlike(event, this.#last)) this.#remember(event);
    const [afterHash, beforeId, afterId] = this.#parts;
    const { assaycontenthash, assayseq, id, subject, time, traceparent, tracestate, type } = event;
    const trace = member('traceparent', traceparent) + member('tracestate', tracestate);
    return `{"assaycontenthash":"${assaycontenthash}${afterHash}${assayseq},"data":${dataText}${beforeId}${id}${afterId}${member('subject', subject)}"time":"${time}",${trace}"type":"${type}"}`;
  }

  #remember(event: BundleEvent): void {
    this.#last = event;
    this.#parts = [
      `",${member('assaygit', event.assaygit)}"assaypii":${event.assaypii},${member('assaypolicyid', event.assaypolicyid)}${member('assayproducer', event.assayproducer)}${member('assayproducerversion', event.assayproducerversion)}${member('assayrunid', event.assayrunid)}"assaysecrets":${event.assaysecrets},"assayseq":`,
      `,${member('datacontenttype', event.datacontenttype)}"id":"`,
      `",${member('source', event.source)}${member('specversion', event.specversion)}`,
    ];
  }
}

function isAlike(event: BundleEvent, other: BundleEvent): boolean {
  return (
    event.assayrunid === other.assayrunid &&
    event.assaygit === other.assaygit &&
    event.assaypii === other.assaypii &&
    event.assaypolicyid === other.assaypolicyid &&
    event.assayproducer === other.assayproducer &&
    event.assayproducerversion === other.assayproducerversion &&
    event.assaysecrets === other.assaysecrets &&
    event.datacontenttype === other.datacontenttype &&
    event.source === other.source &&
    event.specversion === other.specversion
  );
}

function member(name: string, value: string | undefined): string {
  return value === undefined ? '' : `"${name}":${JSON.stringify(value)},`;
}
