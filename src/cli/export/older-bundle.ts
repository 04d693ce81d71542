import { type EventDraft, startManifest, writeBundle } from '../../evidence/bundle/write-bundle.ts';
import { traceparentOf } from '../../evidence/export/trace-ids.ts';
import { type Detail, makeUpstreamEvents } from '../../evidence/export/upstream-events.ts';
import type { UpstreamSource } from '../../evidence/export/upstream-run.ts';
import { VERSION } from '../version.ts';
import { SpoolFile } from './spool-file.ts';

/** The archive of a bundle in the older format, piece by piece. */
export async function* writeOlderBundle(
  source: UpstreamSource,
  detail: Detail,
): AsyncGenerator<Uint8Array> {
  const spool = new SpoolFile();
  try {
    const { archive } = writeBundle({
      manifest: startManifest({
        producer: { name: 'assay', version: VERSION },
        runId: source.runId,
      }),
      envelope: { source: `urn:assay:cli:${VERSION}` },
      events: withTraces(source, detail),
      spool,
    });
    yield* archive;
  } finally {
    spool.close();
  }
}

function* withTraces(source: UpstreamSource, detail: Detail): Iterable<EventDraft> {
  const { runId } = source;
  let seq = 0;
  for (const event of makeUpstreamEvents(source, detail))
    yield { ...event, traceparent: traceparentOf(runId, `${runId}:${seq++}`) };
}
