import { LAYERS } from '../plan/plan.ts';
import { renderBashCompletion } from './bash-completion.ts';
import type { Flag } from './grammar.ts';
import { renderZshCompletion } from './zsh-completion.ts';

/** What can stand where a value is wanted. */
export type Candidates = 'files' | 'directories' | 'anything' | readonly string[];

/** The names that are not in the table of commands. */
export interface CompletionNames {
  readonly presets: readonly string[];
}

/** A script that completes commands, flags, values and the program that `sandbox` is to run. */
export function renderCompletion(shell: 'bash' | 'zsh', names: CompletionNames): string {
  const find = (value: string | undefined, choices?: readonly string[]): Candidates =>
    choices ?? findCandidates(value, names);
  return shell === 'bash' ? renderBashCompletion(find) : renderZshCompletion(find);
}

export type FindCandidates = (value: Flag['value'], choices?: readonly string[]) => Candidates;

function findCandidates(value: string | undefined, { presets }: CompletionNames): Candidates {
  switch (value) {
    case 'FILE':
    case 'PATH':
    case 'PATTERN':
    case 'PATH|HOST':
    case 'EVIDENCE':
    case 'TARGET':
      return 'files';
    case 'DIR':
      return 'directories';
    case 'PRESET':
      return presets;
    case 'LAYERS':
      return LAYERS;
    default:
      return 'anything';
  }
}
