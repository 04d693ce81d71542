import { createHash } from 'node:crypto';
import { createReadStream, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { BLOCK_BYTES, makeTarHeader, paddingAfter } from '../../evidence/bundle/tar-header.ts';
import { findEngineFile } from '../engines-dir.ts';

/** The image that sandboxes start from unless they ask for another: made by scripts/engines/image.sh. */
export interface RuntimeImage {
  /** Of its configuration, as engines name images: known before it is loaded. */
  readonly id: string;
  readonly tag: string;
  readonly rootfs: string;
  /** What `docker load` takes. */
  openArchive(): Readable;
}

function zeros(count: number): Buffer {
  return Buffer.alloc(count);
}

function makeConfig(digest: string): string {
  return JSON.stringify({
    architecture: process.arch === 'x64' ? 'amd64' : process.arch,
    config: {
      Env: ['PATH=/usr/local/bin:/usr/bin:/bin', 'LANG=C.UTF-8'],
      WorkingDir: '/workspace',
    },
    created: '2023-11-14T22:13:20Z',
    history: [{ created: '2023-11-14T22:13:20Z', created_by: 'scripts/engines/image.sh' }],
    os: 'linux',
    rootfs: { type: 'layers', diff_ids: [digest] },
  });
}

/** Undefined where it was not made. */
export function findRuntimeImage(): RuntimeImage | undefined {
  const rootfs = findEngineFile('image/rootfs.tar');
  if (rootfs === undefined) return undefined;
  const digest = readFileSync(join(dirname(rootfs), 'digest'), 'latin1').trim();
  const config = makeConfig(digest);
  const hash = createHash('sha256').update(config).digest('hex');
  const tag = `assay/runtime:${hash.slice(0, 12)}`;
  return {
    id: `sha256:${hash}`,
    tag,
    rootfs,
    openArchive: () => Readable.from(writeArchive({ rootfs, config, hash, tag })),
  };
}

async function* writeArchive(image: {
  readonly rootfs: string;
  readonly config: string;
  readonly hash: string;
  readonly tag: string;
}): AsyncGenerator<Buffer> {
  const { rootfs, config, hash, tag } = image;
  const manifest = JSON.stringify([
    { Config: `${hash}.json`, RepoTags: [tag], Layers: ['layer.tar'] },
  ]);
  for (const [name, text] of [
    [`${hash}.json`, config],
    ['manifest.json', manifest],
  ] as const) {
    const bytes = Buffer.from(text);
    yield Buffer.concat([
      makeTarHeader(name, bytes.length),
      bytes,
      zeros(paddingAfter(bytes.length)),
    ]);
  }
  const { size } = statSync(rootfs);
  yield Buffer.from(makeTarHeader('layer.tar', size));
  for await (const chunk of createReadStream(rootfs, { highWaterMark: 1024 * 1024 }))
    yield chunk as Buffer;
  yield zeros(paddingAfter(size) + 2 * BLOCK_BYTES);
}
