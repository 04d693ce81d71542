import { toPrintableJson } from '../../core/printable.ts';
import type { BundleEvent, BundleManifest } from '../../evidence/bundle/bundle.ts';
import { isRecord } from '../../evidence/bundle/shape.ts';

/** Known members first, in the order in which readers of the format are used to find them. */
const MANIFEST_KEYS = [
  'schema_version',
  'bundle_id',
  'producer',
  'run_id',
  'event_count',
  'run_root',
  'algorithms',
  'files',
];
const EVENT_KEYS = [
  'specversion',
  'type',
  'source',
  'id',
  'time',
  'datacontenttype',
  'subject',
  'traceparent',
  'tracestate',
  'assayrunid',
  'assayseq',
  'assayproducer',
  'assayproducerversion',
  'assaygit',
  'assaypolicyid',
  'assaypii',
  'assaysecrets',
  'assaycontenthash',
];

/** One document, event by event, since there may be many. */
export class EventDocument {
  #hasEvents = false;

  head(manifest: BundleManifest): string {
    const sorted = sortKeys({ ...manifest, files: sortFiles(manifest.files) }, MANIFEST_KEYS);
    return `{\n  "manifest": ${print(sorted, '  ')},\n  "events": [`;
  }

  row(event: BundleEvent): string {
    const comma = this.#hasEvents ? ',' : '';
    this.#hasEvents = true;
    const { data, ...envelope } = event;
    return `${comma}\n    ${print({ ...sortKeys(envelope, EVENT_KEYS), data }, '    ')}`;
  }

  end(verifyMode: 'enabled' | 'disabled', problem?: string): string {
    const failed = problem === undefined ? '' : `,\n  "problem": ${print(problem, '  ')}`;
    const close = this.#hasEvents ? '\n  ]' : ']';
    return `${close},\n  "verify_mode": "${verifyMode}"${failed}\n}\n`;
  }
}

/** Without verification it may be anything. */
function sortFiles(files: unknown): unknown {
  if (!isRecord(files)) return files;
  const sorted = Object.entries(files).map(([name, entry]) => [
    name,
    isRecord(entry) ? sortKeys(entry, ['path', 'sha256', 'bytes']) : entry,
  ]);
  return Object.fromEntries(sorted) as unknown;
}

function sortKeys(value: object, first: readonly string[]): Record<string, unknown> {
  const entries = Object.entries(value);
  const known = first.flatMap((key) => entries.filter(([name]) => name === key));
  return Object.fromEntries([...known, ...entries.filter(([name]) => !first.includes(name))]);
}

/** Names may hold what turns the direction of text or starts an escape sequence; JSON can say it without. */
function print(value: unknown, indent: string): string {
  return toPrintableJson(value, 2).replaceAll('\n', `\n${indent}`);
}
