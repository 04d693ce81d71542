import { basename } from 'node:path';
import { AtomicFile } from '../../artifacts/atomic-file.ts';
import { AssayError } from '../../core/errors.ts';
import { toPrintable, toPrintableJson } from '../../core/printable.ts';
import { toFact } from '../../evidence/bundle/facts.ts';
import type { VerifiedBundle } from '../../evidence/bundle/verify-bundle.ts';
import { addSignature } from '../../evidence/signing/add-signature.ts';
import {
  ENVELOPE_LIMITS,
  EnvelopeError,
  type EnvelopeLine,
  parseEnvelopes,
} from '../../evidence/signing/dsse.ts';
import type { SigningKey } from '../../core/keys/ed25519.ts';
import { parsePrivateKey } from '../../core/keys/private-key.ts';
import {
  RUNTIME_TRACE_TYPE,
  RuntimeTrace,
} from '../../evidence/signing/runtime-trace-predicate.ts';
import {
  makeSandboxRunPredicate,
  SANDBOX_RUN_TYPE,
} from '../../evidence/signing/sandbox-run-predicate.ts';
import type { Statement } from '../../evidence/signing/statement.ts';
import { readBoundedBeside } from '../bounded-file.ts';
import { scanBundle } from '../bundle-file.ts';
import { readKeyFile } from '../key-file.ts';
import type { ParsedCommand } from '../parse.ts';

interface Job {
  readonly bundle: string;
  readonly key: SigningKey;
  readonly kind: string;
  readonly output: string;
}

/** `assay evidence sign`: only what has been verified is signed, and exactly those bytes. */
export async function run({ flags, rest }: Pick<ParsedCommand, 'flags' | 'rest'>): Promise<number> {
  const job = readJob({ flags, rest });
  const { bundle, output } = job;
  // Both before the bundle is read, which may take a while.
  const earlier = readEnvelopes(output);
  const file = new AtomicFile(output, 'the signature');
  try {
    const trace = job.kind === 'run' ? undefined : new RuntimeTrace();
    const verified = await scanBundle(
      bundle,
      trace ? { onEvent: (event) => trace.add(event, toFact(event)) } : {},
    );
    const statements = makeStatements(job, { verified, trace });
    const { text, added } = signAll(statements, job, earlier);
    if (added > 0) file.write([text]);
    report({ isJson: flags.has('json'), job, verified, statements, added });
    return 0;
  } finally {
    file.close();
  }
}

function readJob({ flags, rest }: Pick<ParsedCommand, 'flags' | 'rest'>): Job {
  const [bundle = ''] = rest;
  if (bundle === '-')
    throw new AssayError('E_USAGE', 'Cannot sign what comes from standard input', {
      hint: 'Name the file of the bundle: the signature is about a file',
    });
  const keyFile = flags.text('key');
  if (keyFile === undefined)
    throw new AssayError('E_USAGE', '`evidence sign` needs --key FILE', {
      hint: 'assay keygen FILE makes a key; Ed25519 keys of ssh-keygen and openssl will do as well',
    });
  return {
    bundle,
    key: parsePrivateKey(readKeyFile(keyFile), keyFile),
    kind: flags.text('predicate') ?? 'run',
    output: flags.text('output') ?? `${bundle}.intoto.jsonl`,
  };
}

function readEnvelopes(file: string): readonly EnvelopeLine[] {
  let content: Buffer | undefined;
  try {
    content = readBoundedBeside(file, ENVELOPE_LIMITS.fileBytes);
  } catch (cause) {
    throw refuse(file, (cause as Error).message, cause);
  }
  return content === undefined || content.length === 0 ? [] : parse(content, file);
}

function parse(content: Uint8Array, file: string): readonly EnvelopeLine[] {
  try {
    return parseEnvelopes(content);
  } catch (cause) {
    if (cause instanceof EnvelopeError) throw refuse(file, cause.message, cause);
    throw cause;
  }
}

function refuse(file: string, reason: string, cause: unknown): AssayError {
  return new AssayError('E_USAGE', `Cannot add a signature to "${file}": ${reason}`, {
    hint: 'Remove it, or name another file with --output',
    cause,
  });
}

function makeStatements(
  { bundle, kind }: Job,
  { verified, trace }: { verified: VerifiedBundle; trace: RuntimeTrace | undefined },
): readonly Statement[] {
  const { manifest, sha256 } = verified;
  const subject = { subjectName: basename(bundle), sha256 };
  return [
    ...(kind === 'runtime-trace'
      ? []
      : [
          {
            ...subject,
            predicateType: SANDBOX_RUN_TYPE,
            predicate: makeSandboxRunPredicate(manifest),
          },
        ]),
    ...(trace
      ? [
          {
            ...subject,
            predicateType: RUNTIME_TRACE_TYPE,
            predicate: trace.toPredicate(manifest),
          },
        ]
      : []),
  ];
}

function signAll(
  statements: readonly Statement[],
  { key, output }: Job,
  earlier: readonly EnvelopeLine[],
): { readonly text: string; readonly added: number } {
  let current = earlier;
  let text = '';
  let added = 0;
  for (const statement of statements) {
    const signed = addSignature(current, statement, key);
    text = signed.lines.map((line) => `${line}\n`).join('');
    // Also that it is still small enough for those who verify it.
    current = parse(Buffer.from(text), output);
    if (signed.isNew) added += 1;
  }
  return { text, added };
}

interface Outcome {
  readonly isJson: boolean;
  readonly job: Job;
  readonly verified: VerifiedBundle;
  readonly statements: readonly Statement[];
  readonly added: number;
}

function report({ isJson, job, verified, statements, added }: Outcome): void {
  const { bundle, output, key } = job;
  const predicateTypes = statements.map(({ predicateType }) => predicateType);
  if (isJson) {
    const { sha256 } = verified;
    const { keyId } = key;
    const document = {
      schema: 'assay.evidence-sign.v1',
      bundle,
      sha256,
      output,
      keyId,
      predicateTypes,
      added,
    };
    process.stdout.write(`${toPrintableJson(document, 2)}\n`);
    return;
  }
  const lines = [
    added === 0 ? `${bundle} was signed with this key before` : `Signed ${bundle}`,
    `  SHA-256    ${verified.sha256}`,
    `  Key id     ${key.keyId}`,
    ...predicateTypes.map((type) => `  Predicate  ${type}`),
    `  Signature  ${output}`,
  ];
  process.stdout.write(`${lines.map(toPrintable).join('\n')}\n`);
}
