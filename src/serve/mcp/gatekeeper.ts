import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import {
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  originValidationResponse,
} from '@modelcontextprotocol/server';

export const MCP_PATH = '/mcp';

/** Who may talk to the server at all: whoever knows the token, and no page that a browser was lured to. */
export class Gatekeeper {
  /** New at every start. */
  readonly token = randomBytes(32).toString('base64url');
  readonly #digest = digest(this.token);

  /** The answer to a request that is not let in. */
  refuse(request: Request): Response | undefined {
    // A page whose name was made to lead here sends its own name, and a page from elsewhere its origin.
    const foreign =
      hostHeaderValidationResponse(request, localhostAllowedHostnames()) ??
      originValidationResponse(request, localhostAllowedOrigins());
    if (foreign) return foreign;
    if (new URL(request.url).pathname !== MCP_PATH)
      return Response.json({ error: 'not_found' }, { status: 404 });
    if (this.#isToken(request.headers.get('authorization'))) return undefined;
    return Response.json(
      { error: 'invalid_token', error_description: 'The bearer token is missing or wrong' },
      {
        status: 401,
        headers: { 'WWW-Authenticate': 'Bearer realm="assay", error="invalid_token"' },
      },
    );
  }

  #isToken(header: string | null): boolean {
    const found = /^Bearer +([A-Za-z0-9_-]+)$/i.exec(header ?? '');
    return found !== null && timingSafeEqual(digest(found[1] ?? ''), this.#digest);
  }
}

/** Of equal length, whatever was sent. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
