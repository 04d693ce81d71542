import { SandboxError } from '../sandbox-error.ts';
import { type Engine, messageOf, statusOf } from './engine.ts';

/** What an image that somebody chose says of its own environment; nothing of it is the host's. */
export async function readImageEnvironment(
  { docker }: Engine,
  image: string,
): Promise<Readonly<Record<string, string>>> {
  try {
    const { Config } = await docker.getImage(image).inspect();
    const entries = (Config?.Env ?? []).map((line): [string, string] => {
      const at = line.indexOf('=');
      return at < 0 ? [line, ''] : [line.slice(0, at), line.slice(at + 1)];
    });
    return Object.fromEntries(entries);
  } catch (cause) {
    const isMissing = statusOf(cause) === 404;
    throw new SandboxError(
      'image_unavailable',
      isMissing
        ? `The engine has no image ${image}`
        : `Cannot use the image ${image}: ${messageOf(cause)}`,
      {
        cause,
        hint: `Get it first, such as by docker pull ${image}: nothing is fetched for a sandbox`,
      },
    );
  }
}
