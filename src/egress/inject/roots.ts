import { readFileSync } from 'node:fs';
import { rootCertificates } from 'node:tls';
import { AssayError } from '../../core/errors.ts';
import { SYSTEM_ROOTS } from '../../plan/trust.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The authorities that the user trusts, as PEM: those of SSL_CERT_FILE or of the system, or node's own where there are
 * none, and what NODE_EXTRA_CA_CERTS adds. Of the user's environment, which the program has no part in.
 */
export function readRoots(env: Environment): string {
  const { SSL_CERT_FILE: named, NODE_EXTRA_CA_CERTS: extra } = env;
  const base = named ? readNamed('SSL_CERT_FILE', named) : readSystemRoots();
  return [base, ...(extra ? [readNamed('NODE_EXTRA_CA_CERTS', extra)] : [])].join('\n');
}

function readSystemRoots(): string {
  for (const path of SYSTEM_ROOTS) {
    const text = tryRead(path);
    if (text !== undefined && listCertificates(text).length > 0) return text;
  }
  return rootCertificates.join('\n');
}

function tryRead(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return undefined;
  }
}

/** What somebody has named is there, or it is an error: to trust others instead would not be what was asked for. */
function readNamed(variable: string, path: string): string {
  const text = tryRead(path);
  if (text === undefined || listCertificates(text).length === 0)
    throw new AssayError(
      'E_INJECT_FAILED',
      `Cannot read certificates from "${path}" of ${variable}`,
      {
        hint: `Name a file of certificates in PEM, or take ${variable} out of the environment`,
      },
    );
  return text;
}

/** One PEM block each; whatever stands between them is left out. */
export function listCertificates(text: string): string[] {
  return text.match(/-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g) ?? [];
}
