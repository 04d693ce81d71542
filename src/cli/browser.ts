import { spawn } from 'node:child_process';
import { pathToFileURL } from 'node:url';

/** How long a program that opens pages has to say that it cannot. */
const ANSWER_MS = 3000;

/** Opens a page where there is something to open it with; says where it is in any case. */
export async function openPage(path: string): Promise<void> {
  for (const [command, ...args] of listOpeners(path)) {
    if (command === undefined || !(await canStart(command, args))) continue;
    process.stdout.write(`${path}\n`);
    return;
  }
  process.stdout.write(`${path}\n`);
  process.stderr.write(
    `assay: found nothing to open the page with. Open ${pathToFileURL(path).href} in a browser, or name a program in BROWSER\n`,
  );
}

/** `BROWSER` is a list of programs, each with `%s` where the address goes, or without. */
function listOpeners(path: string): string[][] {
  const { env, platform } = process;
  const url = pathToFileURL(path).href;
  const named = (env['BROWSER'] ?? '')
    .split(':')
    .filter((entry) => entry.trim() !== '')
    .map((entry) => {
      const words = entry.trim().split(/\s+/);
      return entry.includes('%s')
        ? words.map((word) => word.replaceAll('%s', url))
        : [...words, url];
    });
  const hasScreen = Boolean(env['DISPLAY'] ?? env['WAYLAND_DISPLAY']);
  const own = platform === 'darwin' ? [['open', url]] : hasScreen ? [['xdg-open', url]] : [];
  return [...named, ...own];
}

/** Whether it is running after a while, or has ended well. */
function canStart(command: string, args: readonly string[]): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { detached: true, stdio: 'ignore' });
    const timer = setTimeout(() => resolve(true), ANSWER_MS);
    const answer = (isGood: boolean): void => {
      clearTimeout(timer);
      resolve(isGood);
    };
    child.on('error', () => answer(false));
    child.on('exit', (code) => answer(code === 0));
    child.unref();
  });
}
