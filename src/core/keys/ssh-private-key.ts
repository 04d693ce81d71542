import { decodeBase64 } from './base64.ts';
import { MAKE_A_KEY, refuseKey } from './key-error.ts';
import { SshReader } from './ssh-wire.ts';

const MAGIC = 'openssh-key-v1\0';
const ARMOUR =
  /^\s*-----BEGIN OPENSSH PRIVATE KEY-----([A-Za-z0-9+/=\s]+)-----END OPENSSH PRIVATE KEY-----\s*$/;

/** The halves of an Ed25519 key out of what ssh-keygen writes (PROTOCOL.key of OpenSSH). */
export function readSshPrivateKey(text: string, file: string): { seed: Buffer; point: Buffer } {
  const bytes = decodeBase64((ARMOUR.exec(text)?.[1] ?? '').replaceAll(/\s/g, ''));
  if (bytes?.subarray(0, MAGIC.length).toString('latin1') !== MAGIC)
    throw refuseKey(file, 'its text is damaged', MAKE_A_KEY);
  try {
    return readContainer(new SshReader(bytes.subarray(MAGIC.length)), file);
  } catch (cause) {
    if (cause instanceof RangeError) throw refuseKey(file, cause.message, MAKE_A_KEY, cause);
    throw cause;
  }
}

function readContainer(reader: SshReader, file: string): { seed: Buffer; point: Buffer } {
  const cipher = reader.readText();
  const kdf = reader.readText();
  reader.readBytes();
  if (reader.readNumber() !== 1) throw new RangeError('it does not hold exactly one key');
  const algorithm = new SshReader(reader.readBytes()).readText();
  if (algorithm !== 'ssh-ed25519')
    throw refuseKey(file, `its algorithm is ${algorithm}, not ssh-ed25519`, MAKE_A_KEY);
  if (cipher !== 'none' || kdf !== 'none')
    throw refuseKey(
      file,
      'it is protected by a passphrase',
      "Take the passphrase off a copy: ssh-keygen -p -N '' -f COPY",
    );
  const secret = new SshReader(reader.readBytes());
  if (!reader.isAtEnd) throw new RangeError('something follows its end');
  return readSecret(secret);
}

function readSecret(reader: SshReader): { seed: Buffer; point: Buffer } {
  if (reader.readNumber() !== reader.readNumber()) throw new RangeError('it is damaged');
  const algorithm = reader.readText();
  const point = reader.readBytes();
  const pair = reader.readBytes();
  reader.readBytes();
  const isPadded = reader.readRest().every((byte, index) => byte === index + 1);
  if (algorithm !== 'ssh-ed25519' || pair.length !== 64 || !isPadded)
    throw new RangeError('it is damaged');
  if (!pair.subarray(32).equals(point)) throw new RangeError('its two halves do not fit');
  return { seed: pair.subarray(0, 32), point };
}
