import { renderHelp } from '../help.ts';
import type { ParsedCommand } from '../parse.ts';

export function run({ rest }: ParsedCommand): Promise<number> {
  process.stdout.write(renderHelp(rest));
  return Promise.resolve(0);
}
