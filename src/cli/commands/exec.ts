import { AssayError } from '../../core/errors.ts';
import type { ParsedCommand } from '../parse.ts';

/** Of one program, which a batch has for each task. */
const SINGLE_FLAGS = ['lang', 'file', 'out', 'stdin', 'json'];

/** `assay exec`: code in a sandbox; many of them with `--batch`. */
export async function run(parsed: ParsedCommand): Promise<number> {
  const { flags, rest } = parsed;
  if (!flags.has('batch')) {
    if (flags.has('parallel'))
      throw new AssayError('E_USAGE', '--parallel goes with --batch', {
        hint: 'assay exec --batch tasks.ndjson --parallel 8',
      });
    const { execOne } = await import('../exec/exec-one.ts');
    return await execOne(parsed);
  }
  const clash = SINGLE_FLAGS.find((name) => flags.has(name));
  if (clash !== undefined || rest.length > 0)
    throw new AssayError(
      'E_USAGE',
      `${clash === undefined ? 'A file of code' : `--${clash}`} does not go with --batch`,
      { hint: 'Each task of the file says it for itself; see docs/exec.md' },
    );
  const { execBatch } = await import('../exec/exec-batch.ts');
  return await execBatch(parsed);
}
