import { PRESETS } from '../../policy/presets.ts';
import { renderCompletion } from '../completion.ts';
import type { ParsedCommand } from '../parse.ts';

export function run({ rest }: ParsedCommand): Promise<number> {
  const shell = rest[0] === 'zsh' ? 'zsh' : 'bash';
  process.stdout.write(renderCompletion(shell, { presets: Object.keys(PRESETS) }));
  return Promise.resolve(0);
}
