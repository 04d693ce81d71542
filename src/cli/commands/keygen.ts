import { toPrintableJson } from '../../core/printable.ts';
import { generateKeyPairSync } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, openSync, unlinkSync, writeFileSync } from 'node:fs';
import { AssayError } from '../../core/errors.ts';
import { parsePrivateKey } from '../../core/keys/private-key.ts';
import type { ParsedCommand } from '../parse.ts';

/** `assay keygen`: FILE, which is secret, and FILE.pub. Neither is ever overwritten. */
export function run({ flags, rest }: Pick<ParsedCommand, 'flags' | 'rest'>): Promise<number> {
  const [file = ''] = rest;
  const publicFile = `${file}.pub`;
  if (existsSync(publicFile)) throw refuse(publicFile, 'it is there already');
  const pair = generateKeyPairSync('ed25519');
  const privateKey = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const { keyId } = parsePrivateKey(privateKey, file);
  writeNew(file, privateKey, 0o600);
  try {
    writeNew(publicFile, pair.publicKey.export({ type: 'spki', format: 'pem' }).toString(), 0o644);
  } catch (error) {
    unlinkSync(file);
    throw error;
  }
  process.stdout.write(
    flags.has('json')
      ? `${toPrintableJson({ schema: 'assay.keygen.v1', algorithm: 'ed25519', keyId, privateKey: file, publicKey: publicFile }, 2)}\n`
      : `Key id: ${keyId}\nPrivate: ${file} (keep it secret: whoever has it can sign as you)\nPublic:  ${publicFile} (give it to whoever verifies)\n`,
  );
  return Promise.resolve(0);
}

function writeNew(file: string, text: string, mode: number): void {
  try {
    const fd = openSync(file, 'wx', mode);
    try {
      writeFileSync(fd, text);
      fsyncSync(fd);
    } catch (error) {
      unlinkSync(file);
      throw error;
    } finally {
      closeSync(fd);
    }
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    throw refuse(file, code === 'EEXIST' ? 'it is there already' : message, cause);
  }
}

function refuse(file: string, reason: string, cause?: unknown): AssayError {
  return new AssayError('E_KEY', `Cannot write a key to "${file}": ${reason}`, {
    hint: 'Name a new file in a directory that exists; a key is never overwritten',
    cause,
  });
}
