import { toPrintable } from '../../core/printable.ts';
import type { BundleEvent, BundleManifest } from '../../evidence/bundle/bundle.ts';
import { BundleError } from '../../evidence/bundle/bundle-error.ts';
import { toFact } from '../../evidence/bundle/facts.ts';
import { readUnverified } from '../../evidence/bundle/read-unverified.ts';
import { type VerifiedBundle, verifyBundle } from '../../evidence/bundle/verify-bundle.ts';
import { nameBundle, readBundleFile, scanBundle } from '../bundle-file.ts';
import type { ParsedCommand } from '../parse.ts';
import { makeFilter } from '../show/filter.ts';
import { EventDocument } from '../show/json.ts';
import { KeptBundle } from '../show/kept-bundle.ts';
import { EventTable } from '../show/table.ts';

const PIECE_LENGTH = 1 << 16;
const NOT_VERIFIED = 'no: nothing was checked (--no-verify)';

interface Printer {
  head(manifest: BundleManifest): string;
  row(event: BundleEvent): string;
  /** After the last event; `problem` where the archive could not be read to its end. */
  end(problem?: string): string;
}

/** `assay evidence show`: the events of a bundle, once it has turned out to be good. */
export async function run({ flags, rest }: Pick<ParsedCommand, 'flags' | 'rest'>): Promise<number> {
  const [path = ''] = rest;
  const isJson = flags.has('json') || flags.text('format') === 'json';
  const isVerified = !flags.has('no-verify');
  const isWanted = makeFilter(flags);
  const output = new Output();
  const show = (printer: Printer, event: BundleEvent): void => {
    if (!isWanted || isWanted(toFact(event), event)) output.write(printer.row(event));
  };
  const bundle = new KeptBundle();
  try {
    if (!isVerified) {
      const printer = isJson ? printJson('disabled') : printTable(NOT_VERIFIED);
      return await showUnverified(readBundleFile(path), { printer, output, show });
    }
    const verified = await scanBundle(path, { onChunk: (chunk) => bundle.add(chunk) });
    const printer = isJson ? printJson('enabled') : printTable(describeTrust(verified));
    output.write(printer.head(verified.manifest));
    await verifyBundle(bundle.chunks(), { onEvent: (event) => show(printer, event) });
    output.write(printer.end());
    output.flush();
    return 0;
  } catch (error) {
    if (error instanceof BundleError) error.file = nameBundle(path);
    throw error;
  } finally {
    bundle.close();
  }
}

/** As far as it goes: what could be read is shown, and then why there is no more. */
async function showUnverified(
  chunks: AsyncIterable<Uint8Array>,
  {
    printer,
    output,
    show,
  }: { printer: Printer; output: Output; show: (printer: Printer, event: BundleEvent) => void },
): Promise<number> {
  let badLines = 0;
  let hasManifest = false;
  try {
    await readUnverified(chunks, {
      onManifest: (manifest) => {
        hasManifest = true;
        output.write(printer.head(manifest));
      },
      onEvent: (event) => show(printer, event),
      onBadLine: () => (badLines += 1),
    });
  } catch (error) {
    if (!hasManifest || !(error instanceof BundleError)) throw error;
    output.write(printer.end(`${error.message} (${error.code})`));
    output.flush();
    throw error;
  }
  output.write(printer.end(badLines > 0 ? `${badLines} lines are no events` : undefined));
  output.flush();
  return 0;
}

function printJson(verifyMode: 'enabled' | 'disabled'): Printer {
  const document = new EventDocument();
  return {
    head: (manifest) => document.head(manifest),
    row: (event) => document.row(event),
    end: (problem) => document.end(verifyMode, problem),
  };
}

function printTable(trust: string): Printer {
  const { isTTY, columns } = process.stdout;
  let table: EventTable | undefined;
  return {
    head: (manifest) => {
      table = new EventTable({ manifest, trust, columns: isTTY ? columns : undefined });
      return table.head();
    },
    row: (event) => table?.row(toFact(event), event) ?? '',
    end: (problem) => (problem === undefined ? '' : `… ${toPrintable(problem)}\n`),
  };
}

function describeTrust({ kind }: VerifiedBundle): string {
  return kind === 'sandbox'
    ? 'intact; who signed it was not asked (see evidence verify --key)'
    : 'intact; older format, which does not bind run, producer and policy';
}

/** Rows are many and short. */
class Output {
  #piece = '';

  write(text: string): void {
    this.#piece += text;
    if (this.#piece.length >= PIECE_LENGTH) this.flush();
  }

  flush(): void {
    process.stdout.write(this.#piece);
    this.#piece = '';
  }
}
