import { posix } from 'node:path';

const WITH_VALUE = new Set(['-W', '-X', '--check-hash-based-pycs']);

/**
 * Python makes the name of the script absolute before anybody can tell it where it is, so that is done here. What comes
 * behind `-c` and `-m` is no name of a file.
 */
export function resolveScript(argv: readonly string[], cwd: string): string[] {
  const resolved = [...argv];
  for (let index = 1; index < argv.length; index += 1) {
    const argument = argv[index] ?? '';
    if (WITH_VALUE.has(argument)) index += 1;
    else if (argument === '-' || argument === '--') break;
    else if (!argument.startsWith('-')) {
      resolved[index] = posix.resolve(cwd, argument);
      break;
    } else if (/^-[^-WX]*[cm]/.test(argument)) break;
  }
  return resolved;
}
