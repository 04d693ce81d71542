import { crc32, deflateRawSync, gunzipSync } from 'node:zlib';

import { canonicalJson } from '../../../src/core/canonical-json.ts';
import { sha256Hex } from '../../../src/core/digest.ts';

/** What is in a bundle, to be changed at will. */
export interface Contents {
  manifest: Json;
  events: Json[];
}

// oxlint-disable-next-line typescript/no-explicit-any -- a forger does not care about types
export type Json = any;

export interface Member {
  readonly name: string;
  readonly body: Uint8Array;
  /** Changes the header before its checksum is made. */
  readonly header?: (block: Buffer) => void;
  readonly padding?: Uint8Array;
}

const SHA = (text: string): string => `sha256:${sha256Hex(text)}`;

export function unpack(bundle: Uint8Array): { manifest: string; events: string } {
  const tar = gunzipSync(bundle);
  const size = Number.parseInt(tar.toString('latin1', 124, 135), 8);
  const manifest = tar.toString('utf8', 512, 512 + size);
  const at = 512 + Math.ceil(size / 512) * 512;
  const eventsSize = Number.parseInt(tar.toString('latin1', at + 124, at + 135), 8);
  return { manifest, events: tar.toString('utf8', at + 512, at + 512 + eventsSize) };
}

export function parse(bundle: Uint8Array): Contents {
  const { manifest, events } = unpack(bundle);
  return {
    manifest: JSON.parse(manifest),
    events: events
      .trimEnd()
      .split('\n')
      .map((line): Json => JSON.parse(line)),
  };
}

/** Computes every hash again, as someone would who wants a change to go unnoticed. */
export function reseal(contents: Contents, { isIdentityKept = false } = {}): Contents {
  const { manifest, events } = contents;
  const identity = leaveOut(manifest, ['bundle_id', 'run_root', 'event_count', 'files', 'seal']);
  for (const event of events) {
    if (event.data?.identity !== undefined && !isIdentityKept)
      event.data.identity = SHA(canonicalJson(identity));
    const { specversion, type, datacontenttype, data, subject } = event;
    event.assaycontenthash = SHA(
      canonicalJson({
        specversion,
        type,
        datacontenttype,
        data,
        ...(subject === undefined || subject === null ? {} : { subject }),
      }),
    );
  }
  return sealManifest(contents);
}

/** The hashes of the manifest only. */
export function sealManifest(contents: Contents, text = writeEvents(contents.events)): Contents {
  const { manifest, events } = contents;
  manifest.event_count = events.length;
  manifest.run_root = SHA(events.map((event) => `${event.assaycontenthash}\n`).join(''));
  manifest.bundle_id = manifest.run_root;
  manifest.files['events.ndjson'].sha256 = SHA(text);
  manifest.files['events.ndjson'].bytes = Buffer.byteLength(text);
  if (manifest.seal !== undefined) {
    manifest.seal = SHA(canonicalJson(leaveOut(manifest, ['seal'])));
  }
  return contents;
}

function leaveOut(object: Json, names: readonly string[]): Json {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}

export function writeEvents(events: readonly Json[]): string {
  return events.map((event) => `${canonicalJson(event)}\n`).join('');
}

/** Numbers the events anew. */
export function renumber(contents: Contents): Contents {
  contents.events.forEach((event, seq) => {
    event.assayseq = seq;
    event.id = `${event.assayrunid}:${seq}`;
  });
  return contents;
}

export function pack({ manifest, events }: Contents): Buffer {
  return packTexts(canonicalJson(manifest), writeEvents(events));
}

export function packTexts(manifest: string | Uint8Array, events: string | Uint8Array): Buffer {
  return gzip(tar(listMembers(manifest, events)));
}

export function listMembers(
  manifest: string | Uint8Array,
  events: string | Uint8Array,
): [Member, Member] {
  return [
    { name: 'manifest.json', body: Buffer.from(manifest) },
    { name: 'events.ndjson', body: Buffer.from(events) },
  ];
}

export function tar(members: readonly Member[], end: Uint8Array = new Uint8Array(1024)): Buffer {
  return Buffer.concat([
    ...members.flatMap(({ name, body, header, padding }) => [
      makeHeader(name, body.length, header),
      body,
      padding ?? new Uint8Array((512 - (body.length % 512)) % 512),
    ]),
    end,
  ]);
}

function makeHeader(name: string, size: number, change?: (block: Buffer) => void): Buffer {
  const block = Buffer.alloc(512);
  block.write(name, 0, 'latin1');
  block.write('0000644\u00000000000\u00000000000\0', 100, 'latin1');
  block.write(`${size.toString(8).padStart(11, '0')}\u000000000000000\0`, 124, 'latin1');
  block.write('ustar  \u0000assay', 257, 'latin1');
  block.write('assay', 297, 'latin1');
  change?.(block);
  block.fill(' ', 148, 156);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(7, '0')}\0`, 148, 'latin1');
  return block;
}

export interface GzipParts {
  readonly header?: Uint8Array;
  readonly crc?: number;
  readonly size?: number;
  readonly after?: Uint8Array;
  readonly level?: number;
}

export function gzip(bytes: Uint8Array, parts: GzipParts = {}): Buffer {
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(parts.crc ?? crc32(bytes), 0);
  trailer.writeUInt32LE(parts.size ?? bytes.length, 4);
  return Buffer.concat([
    parts.header ?? Buffer.from('1f8b08000000000002ff', 'hex'),
    deflateRawSync(bytes, { level: parts.level ?? 9 }),
    trailer,
    parts.after ?? new Uint8Array(0),
  ]);
}

export async function* chunksOf(bytes: Uint8Array, size = 4096): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
