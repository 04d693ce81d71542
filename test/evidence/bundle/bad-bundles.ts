import { canonicalJson } from '../../../src/core/canonical-json.ts';
import type { BundleCode } from '../../../src/evidence/bundle/bundle-error.ts';
import type { BundleLimits } from '../../../src/evidence/bundle/limits.ts';
import * as forge from './forge.ts';
import type { Contents, Json, Member } from './forge.ts';

export interface BadBundle {
  readonly name: string;
  readonly code: BundleCode;
  /** From a good bundle of ours. */
  readonly make: (good: Buffer) => Buffer;
  readonly limits?: Partial<BundleLimits>;
}

type Change = (contents: Contents) => void;

/** Changes what is inside; every hash is made again, so that nothing but the change is wrong. */
const changed =
  (change: Change) =>
  (good: Buffer): Buffer => {
    const contents = forge.parse(good);
    change(contents);
    return forge.pack(forge.reseal(contents));
  };

/** The same with the older format. */
const changedUpstream = (change: Change) => (): Buffer => {
  const contents = makeUpstream();
  change(contents);
  return forge.pack(forge.reseal(contents));
};

/** Changes what is inside, and nothing else: hashes stay as they were. */
const edited =
  (change: Change) =>
  (good: Buffer): Buffer => {
    const contents = forge.parse(good);
    change(contents);
    return forge.pack(contents);
  };

/** Changes an event and its file hash and seal, but neither its content hash nor the root. */
const resealed =
  (change: Change) =>
  (good: Buffer): Buffer => {
    const contents = forge.parse(good);
    change(contents);
    return forge.pack(forge.sealManifest(contents));
  };

/** Changes the text of one line; the manifest is made to fit. */
const line =
  (at: number, change: (text: string) => string) =>
  (good: Buffer): Buffer => {
    const contents = forge.parse(good);
    const lines = forge.unpack(good).events.trimEnd().split('\n');
    lines[at] = change(lines[at] ?? '');
    const text = `${lines.join('\n')}\n`;
    forge.sealManifest(contents, text);
    return forge.packTexts(canonicalJson(contents.manifest), text);
  };

const manifestText =
  (change: (text: string) => string | Uint8Array) =>
  (good: Buffer): Buffer => {
    const { manifest, events } = forge.unpack(good);
    return forge.packTexts(change(manifest), events);
  };

const members =
  (change: (pair: [Member, Member]) => readonly Member[], end?: Uint8Array) =>
  (good: Buffer): Buffer => {
    const { manifest, events } = forge.unpack(good);
    return forge.gzip(forge.tar(change(forge.listMembers(manifest, events)), end));
  };

const withHeader = (header: (block: Buffer) => void) =>
  members(([first, second]) => [{ ...first, header }, second]);

const withType = (type: string) => withHeader((block) => void block.write(type, 156, 'latin1'));

const regzipped =
  (parts: (tar: Buffer) => forge.GzipParts) =>
  (good: Buffer): Buffer => {
    const { manifest, events } = forge.unpack(good);
    const bytes = forge.tar(forge.listMembers(manifest, events));
    return forge.gzip(bytes, parts(bytes));
  };

const extra = (type: string): Member => ({
  name: '././@Extra',
  body: Buffer.from('manifest.json\0'),
  header: (block) => void block.write(type, 156, 'latin1'),
});

/** A small bundle of the older format. */
export function makeUpstream(): Contents {
  const run = 'run-1';
  const events = [0, 1].map((seq): Json => ({
    specversion: '1.0',
    type: 'assay.fs.access',
    source: 'urn:assay:test',
    id: `${run}:${seq}`,
    time: '2026-01-02T03:04:05Z',
    datacontenttype: 'application/json',
    subject: `/file-${seq}`,
    assayrunid: run,
    assayseq: seq,
    assayproducer: 'assay-cli',
    assayproducerversion: '5.4.0',
    assaygit: 'unknown',
    assaypii: false,
    assaysecrets: false,
    data: { hits: 1 },
  }));
  const manifest = {
    schema_version: 1,
    producer: { name: 'assay-cli', version: '5.4.0' },
    run_id: run,
    algorithms: { canon: 'jcs-rfc8785', hash: 'sha256', root: 'x' },
    files: { 'events.ndjson': { path: 'events.ndjson', sha256: '', bytes: 0 } },
  };
  return forge.reseal({ manifest, events });
}

function findEvent({ events }: Contents, type: string): Json {
  return events.find((event) => event.type === type);
}

const flip = (bytes: Buffer, at: number): Buffer => {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ 0x40;
  return copy;
};

const nest = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;

const CONTAINER: readonly BadBundle[] = [
  { name: 'nothing at all', code: 'IntegrityGzip', make: () => Buffer.alloc(0) },
  { name: 'text', code: 'IntegrityGzip', make: () => Buffer.from('not a bundle') },
  {
    name: 'one byte of a gzip header',
    code: 'IntegrityGzipTruncated',
    make: () => Buffer.of(0x1f),
  },
  {
    name: 'a plain tar archive',
    code: 'IntegrityGzip',
    make: (good) => {
      const { manifest, events } = forge.unpack(good);
      return forge.tar(forge.listMembers(manifest, events));
    },
  },
  {
    name: 'another method of compression',
    code: 'IntegrityGzip',
    make: regzipped(() => ({ header: Buffer.from('1f8b07000000000002ff', 'hex') })),
  },
  {
    name: 'a reserved gzip flag',
    code: 'IntegrityGzip',
    make: regzipped(() => ({ header: Buffer.from('1f8b08200000000002ff', 'hex') })),
  },
  {
    name: 'an endless name in the gzip header',
    code: 'IntegrityGzip',
    make: regzipped(() => ({
      header: Buffer.concat([Buffer.from('1f8b08080000000002ff', 'hex'), Buffer.alloc(70_000, 97)]),
    })),
  },
  {
    name: 'a deflate stream with a block type that does not exist',
    code: 'IntegrityGzip',
    make: () => Buffer.from('1f8b08000000000002ff07ffffff', 'hex'),
  },
  {
    name: 'half of it',
    code: 'IntegrityGzipTruncated',
    make: (good) => good.subarray(0, good.length / 2),
  },
  {
    name: 'no checksum at the end',
    code: 'IntegrityGzipTruncated',
    make: (good) => good.subarray(0, -8),
  },
  {
    name: 'half of the checksum',
    code: 'IntegrityGzipTruncated',
    make: (good) => good.subarray(0, -3),
  },
  {
    name: 'a wrong checksum',
    code: 'IntegrityGzipCrc',
    make: (good) => flip(good, good.length - 6),
  },
  {
    name: 'a wrong length',
    code: 'IntegrityGzipSize',
    make: regzipped((tar) => ({ size: tar.length + 512 })),
  },
  {
    name: 'text after the gzip stream',
    code: 'ContractTrailingData',
    make: regzipped(() => ({ after: Buffer.from('more') })),
  },
  {
    name: 'zeros after the gzip stream',
    code: 'ContractTrailingData',
    make: regzipped(() => ({ after: Buffer.alloc(512) })),
  },
  {
    name: 'a second gzip stream',
    code: 'ContractConcatenated',
    make: (good) => Buffer.concat([good, good]),
  },
  {
    name: 'a file name in the gzip header',
    code: 'ContractHeader',
    make: regzipped(() => ({ header: Buffer.from('1f8b08080000000002ff6100', 'hex') })),
  },
  {
    name: 'a time in the gzip header',
    code: 'ContractHeader',
    make: regzipped(() => ({ header: Buffer.from('1f8b08000100000002ff', 'hex') })),
  },
  {
    name: 'more than the limit of the archive',
    code: 'LimitBundleBytes',
    make: (good) => good,
    limits: { bundleBytes: 100 },
  },
  {
    name: 'more than the limit when decoded',
    code: 'LimitDecodeBytes',
    make: (good) => good,
    limits: { decodedBytes: 9000 },
  },
  {
    name: 'zeros that were compressed a thousand times',
    code: 'LimitRatio',
    make: () => forge.packTexts(Buffer.alloc(9 * 1024 * 1024, ' '), ''),
    limits: { ratioFromBytes: 1024 * 1024 },
  },
];

const TAR: readonly BadBundle[] = [
  {
    name: 'an archive without members',
    code: 'ContractMissingManifest',
    make: () => forge.gzip(forge.tar([])),
  },
  { name: 'no events', code: 'ContractMissingFile', make: members(([first]) => [first]) },
  {
    name: 'no manifest',
    code: 'ContractFileOrder',
    make: members(([, second]) => [second]),
  },
  {
    name: 'members in the wrong order',
    code: 'ContractFileOrder',
    make: members(([first, second]) => [second, first]),
  },
  {
    name: 'two manifests',
    code: 'ContractDuplicateFile',
    make: members(([first, second]) => [first, first, second]),
  },
  {
    name: 'the events twice',
    code: 'ContractDuplicateFile',
    make: members(([first, second]) => [first, second, second]),
  },
  {
    name: 'a third member',
    code: 'ContractUnexpectedFile',
    make: members((pair) => [...pair, { name: 'notes.txt', body: Buffer.from('x') }]),
  },
  {
    name: 'a member with ./ before its name',
    code: 'ContractUnexpectedFile',
    make: members(([first, second]) => [{ ...first, name: './manifest.json' }, second]),
  },
  {
    name: 'a member with a NUL behind a longer name',
    code: 'SecurityMemberName',
    make: members(([first, second]) => [{ ...first, name: 'manifest.json\0.exe' }, second]),
  },
  {
    name: 'a path that leads out',
    code: 'SecurityPathTraversal',
    make: members((pair) => [...pair, { name: '../../etc/cron.d/x', body: Buffer.from('x') }]),
  },
  {
    name: 'an absolute path',
    code: 'SecurityAbsolutePath',
    make: members((pair) => [...pair, { name: '/etc/cron.d/x', body: Buffer.from('x') }]),
  },
  {
    name: 'a name of more bytes than the limit',
    code: 'LimitPathLength',
    make: members((pair) => [...pair, { name: 'x'.repeat(99), body: Buffer.from('x') }]),
    limits: { pathBytes: 98 },
  },
  { name: 'a symbolic link', code: 'SecurityLink', make: withType('2') },
  { name: 'a hard link', code: 'SecurityLink', make: withType('1') },
  { name: 'a directory', code: 'SecurityMemberType', make: withType('5') },
  { name: 'a device', code: 'SecurityMemberType', make: withType('3') },
  { name: 'a named pipe', code: 'SecurityMemberType', make: withType('6') },
  { name: 'an unknown type of member', code: 'SecurityMemberType', make: withType('Z') },
  {
    name: 'an extended header',
    code: 'SecurityExtendedHeader',
    make: members((pair) => [extra('x'), ...pair]),
  },
  {
    name: 'a global extended header',
    code: 'SecurityExtendedHeader',
    make: members((pair) => [extra('g'), ...pair]),
  },
  {
    name: "one of GNU's long names",
    code: 'SecurityLongName',
    make: members((pair) => [extra('L'), ...pair]),
  },
  { name: 'a sparse file', code: 'SecuritySparse', make: withType('S') },
  {
    name: 'a size in binary',
    code: 'IntegrityTar',
    make: withHeader((block) => void block.writeUInt8(0x80, 124)),
  },
  {
    name: 'a size that is not a number',
    code: 'IntegrityTar',
    make: withHeader((block) => void block.write('0000000009x', 124, 'latin1')),
  },
  {
    name: 'a wrong checksum in a tar header',
    code: 'IntegrityTarChecksum',
    make: (good) => {
      const { manifest, events } = forge.unpack(good);
      return forge.gzip(flip(forge.tar(forge.listMembers(manifest, events)), 300));
    },
  },
  {
    name: 'a time in a tar header',
    code: 'ContractHeader',
    make: withHeader((block) => void block.write('00000000001', 136, 'latin1')),
  },
  {
    name: 'a member that may be executed',
    code: 'ContractHeader',
    make: members(([first, second]) => [
      first,
      { ...second, header: (block) => void block.write('0000755', 100, 'latin1') },
    ]),
  },
  {
    name: 'padding that is not zero',
    code: 'ContractPadding',
    make: members(([first, second]) => [
      { ...first, padding: Buffer.alloc((512 - (first.body.length % 512)) % 512, 1) },
      second,
    ]),
  },
  {
    name: 'no blocks of zeros at the end',
    code: 'IntegrityTarEnd',
    make: members((pair) => pair, new Uint8Array(0)),
  },
  {
    name: 'one block of zeros at the end',
    code: 'IntegrityTarEnd',
    make: members((pair) => pair, new Uint8Array(512)),
  },
  {
    name: 'half of a block at the end',
    code: 'IntegrityTarTruncated',
    make: members((pair) => pair, new Uint8Array(700)),
  },
  {
    name: 'an archive that ends inside the events',
    code: 'IntegrityTarTruncated',
    make: (good) => {
      const { manifest, events } = forge.unpack(good);
      const first = forge.tar(forge.listMembers(manifest, events));
      return forge.gzip(first.subarray(0, first.length - 2048));
    },
  },
  {
    name: 'a block of zeros between the members and more after it',
    code: 'IntegrityTarEnd',
    make: members((pair) => pair, Buffer.concat([Buffer.alloc(512), Buffer.alloc(512, 1)])),
  },
  {
    name: 'something after the end of the archive',
    code: 'ContractTrailingData',
    make: members((pair) => pair, Buffer.concat([Buffer.alloc(1024), Buffer.alloc(512, 1)])),
  },
  {
    name: 'zeros after the end of the archive',
    code: 'ContractTrailingData',
    make: members((pair) => pair, Buffer.alloc(10_240)),
  },
  {
    name: 'a manifest of more bytes than the limit',
    code: 'LimitFileSize',
    make: (good) => good,
    limits: { manifestBytes: 100 },
  },
];

const JSON_TEXT: readonly BadBundle[] = [
  {
    name: 'a manifest that is not JSON',
    code: 'ContractInvalidJson',
    make: manifestText(() => 'this is not json'),
  },
  {
    name: 'a manifest that is an array',
    code: 'ContractInvalidJson',
    make: manifestText(() => '[]'),
  },
  {
    name: 'a manifest that is not UTF-8',
    code: 'ContractInvalidJson',
    make: manifestText(() => Buffer.from('{"a":"\xff"}', 'latin1')),
  },
  {
    name: 'a manifest with a byte order mark',
    code: 'ContractInvalidJson',
    make: manifestText((text) => `\ufeff${text}`),
  },
  {
    name: 'a manifest with one name twice',
    code: 'ContractDuplicateKey',
    make: manifestText((text) => text.replace('{', '{"run_id":"other",')),
  },
  {
    name: 'a manifest with one name twice, once escaped',
    code: 'ContractDuplicateKey',
    make: manifestText((text) => text.replace('{', String.raw`{"run\u005fid":"other",`)),
  },
  {
    name: 'a manifest with half of a surrogate pair',
    code: 'ContractLoneSurrogate',
    make: manifestText((text) => text.replace('"assay"', String.raw`"\ud800"`)),
  },
  {
    name: 'a manifest with an infinite number',
    code: 'ContractNumber',
    make: manifestText((text) => text.replace('"schema_version":1', '"schema_version":1e999')),
  },
  {
    name: 'a manifest that is nested too deep',
    code: 'LimitJsonDepth',
    make: manifestText((text) => text.replace('{', `{"a":${nest(65)},`)),
  },
  {
    name: 'a manifest with too many members',
    code: 'LimitJsonKeys',
    make: manifestText((text) => text.replace('{', '{"a":{"b":1,"c":2,"d":3},')),
    limits: { objectKeys: 2 },
  },
  {
    name: 'a manifest with too long a string',
    code: 'LimitJsonString',
    make: manifestText((text) => text.replace('{', `{"a":"${'x'.repeat(200)}",`)),
    limits: { stringLength: 199 },
  },
  {
    name: 'a manifest with white space',
    code: 'ContractNotCanonical',
    make: manifestText((text) => text.replace('{', '{ ')),
  },
  {
    name: 'a manifest with a line feed behind it',
    code: 'ContractNotCanonical',
    make: manifestText((text) => `${text}\n`),
  },
  {
    name: 'an event that is not JSON',
    code: 'ContractInvalidJson',
    make: line(3, () => 'nonsense'),
  },
  {
    name: 'an event that is an array',
    code: 'ContractInvalidJson',
    make: line(3, () => '[1]'),
  },
  {
    name: 'an event with one name twice',
    code: 'ContractDuplicateKey',
    make: line(6, (text) => text.replace('"op":', '"op":"write","op":')),
  },
  {
    name: 'an event with half of a surrogate pair',
    code: 'ContractLoneSurrogate',
    make: line(6, (text) => text.replace('"subject":"', String.raw`"subject":"\ud83d`)),
  },
  {
    name: 'an event with a reversed surrogate pair',
    code: 'ContractLoneSurrogate',
    make: line(6, (text) => text.replace('"subject":"', String.raw`"subject":"\ude00\ud83d`)),
  },
  {
    name: 'an event with an infinite number',
    code: 'ContractNumber',
    make: line(6, (text) => text.replace('"data":{', '"data":{"a":-1e400,')),
  },
  {
    name: 'an event with an integer that no double holds',
    code: 'ContractNumber',
    make: line(6, (text) => text.replace('"data":{', '"data":{"a":9007199254740993,')),
  },
  {
    name: 'an event that is nested too deep',
    code: 'LimitJsonDepth',
    make: line(6, (text) => text.replace('"data":{', `"data":{"a":${nest(63)},`)),
  },
  {
    name: 'an event that is nested a hundred thousand levels deep',
    code: 'LimitJsonDepth',
    make: line(6, (text) => text.replace('"data":{', `"data":{"a":${nest(100_000)},`)),
  },
  {
    name: 'an event with white space',
    code: 'ContractNotCanonical',
    make: line(6, (text) => text.replace(':', ': ')),
  },
  {
    name: 'an event with a carriage return',
    code: 'ContractNotCanonical',
    make: line(6, (text) => `${text}\r`),
  },
  {
    name: 'an event with a needless escape',
    code: 'ContractNotCanonical',
    make: line(6, (text) => text.replace('"subject":"', String.raw`"subject":"\u0041`)),
  },
  {
    name: 'an event with members out of order',
    code: 'ContractNotCanonical',
    make: line(6, (text) => text.replace('{', '{"zz":1,')),
  },
  {
    name: 'an event with a number in another form',
    code: 'ContractNotCanonical',
    make: line(6, (text) => text.replace('"assayseq":6', '"assayseq":6.0')),
  },
  { name: 'an empty line', code: 'ContractInvalidEvent', make: line(3, () => '') },
  {
    name: 'a line of more bytes than the limit',
    code: 'LimitLineBytes',
    make: line(6, (text) => text.replace('"subject":"', `"subject":"${'x'.repeat(1 << 20)}`)),
  },
  {
    name: 'more events than the limit',
    code: 'LimitTotalEvents',
    make: (good) => good,
    limits: { events: 5 },
  },
  {
    name: 'a last line without a line feed',
    code: 'ContractNotCanonical',
    make: (good) => {
      const contents = forge.parse(good);
      const text = forge.unpack(good).events.trimEnd();
      forge.sealManifest(contents, text);
      return forge.packTexts(canonicalJson(contents.manifest), text);
    },
  },
];

const MANIFEST: readonly BadBundle[] = [
  {
    name: 'another schema version',
    code: 'ContractSchemaVersion',
    make: changed(({ manifest }) => (manifest.schema_version = 2)),
  },
  {
    name: 'a manifest without a run id',
    code: 'ContractInvalidJson',
    make: changed(({ manifest }) => delete manifest.run_id),
  },
  {
    name: 'a count that is not a whole number',
    code: 'ContractInvalidJson',
    make: edited(({ manifest }) => (manifest.event_count = 1.5)),
  },
  {
    name: 'a change of the manifest without a new seal',
    code: 'IntegritySeal',
    make: edited(({ manifest }) => (manifest.producer.version = '9.9.9')),
  },
  {
    name: 'a manifest without its seal',
    code: 'IntegritySeal',
    make: edited(({ manifest }) => delete manifest.seal),
  },
  {
    name: 'a member of the manifest that is not known',
    code: 'ContractManifest',
    make: changed(({ manifest }) => (manifest.note = 'x')),
  },
  {
    name: 'another format',
    code: 'ContractManifest',
    make: changed(({ manifest }) => (manifest.sandbox.format = 'assay.sandbox-bundle.v9')),
  },
  {
    name: 'a member of the sandbox that is not known',
    code: 'ContractManifest',
    make: changed(({ manifest }) => (manifest.sandbox.note = 'x')),
  },
  {
    name: 'a file in the manifest that is not in the archive',
    code: 'ContractManifest',
    make: changed(({ manifest }) => (manifest.files['more.txt'] = manifest.files['events.ndjson'])),
  },
  {
    name: 'an algorithm that is not known',
    code: 'ContractAlgorithm',
    make: changed(({ manifest }) => (manifest.algorithms.hash = 'md5')),
  },
  {
    name: 'one more member of the algorithms',
    code: 'ContractManifest',
    make: changed(({ manifest }) => (manifest.algorithms.more = 'x')),
  },
  {
    name: 'one more member of the producer',
    code: 'ContractManifest',
    make: changed(({ manifest }) => (manifest.producer.more = 'x')),
  },
  {
    name: 'a run id that is not of the run digest',
    code: 'ContractRunId',
    make: changed(({ manifest, events }) => {
      manifest.run_id = 'sandbox_0000000000000000';
      for (const event of events) event.assayrunid = manifest.run_id;
      forge.renumber({ manifest, events });
    }),
  },
  {
    name: 'a manifest that does not list the events',
    code: 'ContractMissingFile',
    make: () => {
      const contents = makeUpstream();
      contents.manifest.files = {};
      return forge.pack(contents);
    },
  },
  {
    name: 'a producer that was changed with the seal, but not in the first event',
    code: 'IntegrityIdentity',
    make: (good) => {
      const contents = forge.parse(good);
      contents.manifest.producer.version = '9.9.9';
      for (const event of contents.events) event.assayproducerversion = '9.9.9';
      return forge.pack(forge.reseal(contents, { isIdentityKept: true }));
    },
  },
  {
    name: 'coverage that was changed with the seal, but not in the first event',
    code: 'IntegrityIdentity',
    make: (good) => {
      const contents = forge.parse(good);
      contents.manifest.sandbox.coverage.files = 'absent';
      return forge.pack(forge.reseal(contents, { isIdentityKept: true }));
    },
  },
  {
    name: 'a manifest made to look like the older format',
    code: 'IntegrityIdentity',
    make: (good) => {
      const contents = forge.parse(good);
      delete contents.manifest.sandbox;
      delete contents.manifest.seal;
      return forge.pack(forge.sealManifest(contents));
    },
  },
  {
    name: 'the same without the first event',
    code: 'IntegrityIdentity',
    make: (good) => {
      const contents = forge.parse(good);
      delete contents.manifest.sandbox;
      delete contents.manifest.seal;
      contents.events.shift();
      return forge.pack(forge.reseal(forge.renumber(contents)));
    },
  },
  {
    name: 'a seal without a sandbox',
    code: 'IntegrityIdentity',
    make: changed(({ manifest }) => delete manifest.sandbox),
  },
  {
    name: 'a bundle id that is not the run root',
    code: 'ContractBundleIdMismatch',
    make: () => {
      const contents = makeUpstream();
      contents.manifest.bundle_id = `sha256:${'0'.repeat(64)}`;
      return forge.pack(contents);
    },
  },
  {
    name: 'a wrong run root',
    code: 'IntegrityRunRootMismatch',
    make: () => {
      const contents = makeUpstream();
      contents.manifest.run_root = `sha256:${'0'.repeat(64)}`;
      return forge.pack(contents);
    },
  },
  {
    name: 'a wrong hash of the events',
    code: 'IntegrityManifestHash',
    make: () => {
      const contents = makeUpstream();
      contents.manifest.files['events.ndjson'].sha256 = `sha256:${'0'.repeat(64)}`;
      return forge.pack(contents);
    },
  },
  {
    name: 'a wrong count of events',
    code: 'ContractSequenceGap',
    make: () => {
      const contents = makeUpstream();
      contents.manifest.event_count = 3;
      return forge.pack(contents);
    },
  },
  {
    name: 'an empty list of events',
    code: 'ContractInvalidEvent',
    make: changedUpstream((contents) => (contents.events = [])),
  },
];

const EVENTS: readonly BadBundle[] = [
  {
    name: 'an event that was changed',
    code: 'IntegrityEventHash',
    make: resealed(({ events }) => (events[6].data.outcome = 'EACCES')),
  },
  {
    name: 'a subject that was changed',
    code: 'IntegrityEventHash',
    make: resealed(({ events }) => (events[6].subject = '/elsewhere')),
  },
  {
    name: 'a time that was changed, and nothing else',
    code: 'IntegrityManifestHash',
    make: edited(({ events }) => (events[6].time = '2026-01-02T03:04:05.679Z')),
  },
  {
    name: 'an event that was left out',
    code: 'IntegrityFileSizeMismatch',
    make: edited(({ events }) => events.splice(6, 1)),
  },
  {
    name: 'an event that was left out, with a new seal',
    code: 'ContractSequenceGap',
    make: resealed(({ events }) => events.splice(6, 1)),
  },
  {
    name: 'a first event that was left out, with a new seal',
    code: 'ContractSequenceStart',
    make: resealed(({ events }) => events.splice(0, 1)),
  },
  {
    name: 'two events in another order',
    code: 'ContractSequenceGap',
    make: resealed(({ events }) => ([events[6], events[7]] = [events[7], events[6]])),
  },
  {
    name: 'an event that was left out, with every number and hash made again',
    code: 'IntegrityRunDigest',
    make: changed((contents) => {
      contents.events.splice(6, 1);
      forge.renumber(contents);
    }),
  },
  {
    name: 'a refusal turned into a success, with every hash made again',
    code: 'IntegrityRunDigest',
    make: changed((contents) => {
      const event = findEvent(contents, 'assay.sandbox.net');
      event.data.outcome = 'ok';
      delete event.data.refused_by;
    }),
  },
  {
    name: 'a degradation left out, with every hash made again',
    code: 'IntegrityRunDigest',
    make: changed((contents) => {
      contents.events.splice(4, 1);
      forge.renumber(contents);
    }),
  },
  {
    name: 'another command, with every hash made again',
    code: 'IntegrityRunDigest',
    make: changed(({ events }) => (events[0].data.command = ['true'])),
  },
  {
    name: 'another end, with every hash made again',
    code: 'IntegrityRunDigest',
    make: changed(({ manifest, events }) => {
      const end = { ...manifest.sandbox.end, exit_code: 1 };
      manifest.sandbox.end = end;
      for (const { data } of events) if (data.end) data.end = end;
    }),
  },
  {
    name: 'lines out of their order, with every number and hash made again',
    code: 'ContractEventOrder',
    make: changed((contents) => {
      const { events } = contents;
      [events[6], events[7]] = [events[7], events[6]];
      forge.renumber(contents);
    }),
  },
  {
    name: 'a line that is there twice',
    code: 'ContractEventOrder',
    make: changed((contents) => {
      contents.events.splice(6, 0, structuredClone(contents.events[6]));
      forge.renumber(contents);
    }),
  },
  {
    name: 'a policy after the lines',
    code: 'ContractEventOrder',
    make: changed((contents) => {
      contents.events.splice(7, 0, structuredClone(contents.events[1]));
      forge.renumber(contents);
    }),
  },
  {
    name: 'no coverage',
    code: 'ContractEventMissing',
    make: changed((contents) => {
      contents.events = contents.events.filter(({ type }) => type !== 'assay.sandbox.coverage');
      forge.renumber(contents);
    }),
  },
  {
    name: 'no end',
    code: 'ContractEventMissing',
    make: changed(({ events }) => void events.pop()),
  },
  {
    name: 'a type that is not known',
    code: 'ContractEventType',
    make: changed(({ events }) => (events[6].type = 'assay.sandbox.more')),
  },
  {
    name: 'an event without its data',
    code: 'ContractEventData',
    make: changed(({ events }) => delete events[6].data.program),
  },
  {
    name: 'a file that is said to be a connection',
    code: 'ContractEventData',
    make: changed(({ events }) => (events[6].data.op = 'connect')),
  },
  {
    name: 'a policy that is not the one of its digest',
    code: 'IntegrityIdentity',
    make: changed((contents) => {
      findEvent(contents, 'assay.sandbox.policy').data.policy.fs = {};
    }),
  },
  {
    name: 'coverage that disagrees with the manifest',
    code: 'ContractDisagreement',
    make: changed((contents) => {
      findEvent(contents, 'assay.sandbox.coverage').data.surfaces.files.status = 'partial';
    }),
  },
  {
    name: 'two ends that disagree',
    code: 'ContractDisagreement',
    make: changed(({ events }) => (events.at(-1).data.end.exit_code = 1)),
  },
  {
    name: 'another specversion',
    code: 'ContractSchemaVersion',
    make: changed(({ events }) => (events[6].specversion = '0.3')),
  },
  {
    name: 'an event without a content hash',
    code: 'ContractSchemaVersion',
    make: resealed(({ events }) => delete events[6].assaycontenthash),
  },
  {
    name: 'an event without a source',
    code: 'ContractInvalidJson',
    make: changed(({ events }) => delete events[6].source),
  },
  {
    name: 'an event of another run',
    code: 'ContractRunIdMismatch',
    make: changed(({ events }) => (events[6].assayrunid = 'sandbox_0000000000000000')),
  },
  {
    name: 'a wrong id',
    code: 'ContractInvalidEvent',
    make: changed(({ events }) => (events[6].id = 'x:6')),
  },
  {
    name: 'another source in one event',
    code: 'ContractInvalidEvent',
    make: changed(({ events }) => (events[6].source = 'urn:assay:other')),
  },
  {
    name: 'another source in every event',
    code: 'ContractEnvelope',
    make: changed(({ events }) => events.forEach((event) => (event.source = 'urn:assay:other'))),
  },
  {
    name: 'an attribute that is not known',
    code: 'ContractEnvelope',
    make: changed(({ events }) => (events[6].assaynote = 'x')),
  },
  {
    name: 'a subject that is null',
    code: 'ContractEnvelope',
    make: changed(({ events }) => (events[0].subject = null)),
  },
  {
    name: 'another producer in one event',
    code: 'ContractEnvelope',
    make: changed(({ events }) => (events[6].assayproducerversion = '9.9.9')),
  },
  {
    name: 'another policy in one event',
    code: 'ContractEnvelope',
    make: changed(({ events }) => (events[6].assaypolicyid = `sha256:${'0'.repeat(64)}`)),
  },
  {
    name: 'a time with an offset',
    code: 'ContractTime',
    make: changed(({ events }) => (events[6].time = '2026-01-02T03:04:05+01:00')),
  },
  {
    name: 'a day that does not exist',
    code: 'ContractTime',
    make: changed(({ events }) => (events[6].time = '2026-02-29T03:04:05.678Z')),
  },
  {
    name: 'a day that does not exist, in the older format',
    code: 'ContractTime',
    make: changedUpstream(({ events }) => (events[0].time = '1900-02-29T03:04:05Z')),
  },
  {
    name: 'a time that is none, in the older format',
    code: 'ContractTime',
    make: changedUpstream(({ events }) => (events[0].time = 'yesterday')),
  },
  {
    name: 'a source that is no URI, in the older format',
    code: 'ContractInvalidEvent',
    make: changedUpstream(({ events }) => events.forEach((event) => (event.source = 'assay'))),
  },
  {
    name: 'a colon in the run id, in the older format',
    code: 'ContractInvalidEvent',
    make: changedUpstream((contents) => {
      contents.manifest.run_id = 'a:b';
      for (const event of contents.events) event.assayrunid = 'a:b';
      forge.renumber(contents);
    }),
  },
];

/** Everything that must fail, each for one reason. */
export const BAD_BUNDLES: readonly BadBundle[] = [
  ...CONTAINER,
  ...TAR,
  ...JSON_TEXT,
  ...MANIFEST,
  ...EVENTS,
];
