import { AssayError } from '../../core/errors.ts';
import type { ParsedCommand } from '../parse.ts';

export function run({ command }: Pick<ParsedCommand, 'command'>): Promise<number> {
  throw new AssayError('E_INTERNAL', `${command.join(' ')} is not there yet`);
}
