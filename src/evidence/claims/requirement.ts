import { AssayError } from '../../core/errors.ts';

export type SurfaceName = 'reads' | 'changes' | 'programs' | 'network' | 'environment';

/** What `--require` can ask for, and what must have been watched completely to say so. */
export const REQUIREMENTS = {
  'no-egress': ['network'],
  'no-denials': ['reads', 'changes', 'programs', 'network'],
  'no-writes-outside-workspace': ['changes'],
  'complete:files': ['reads', 'changes'],
  'complete:reads': ['reads'],
  'complete:changes': ['changes'],
  'complete:programs': ['programs'],
  'complete:network': ['network'],
  'complete:environment': ['environment'],
} as const satisfies Record<string, readonly SurfaceName[]>;

export type Requirement = keyof typeof REQUIREMENTS;

/** Each once, in the order given. */
export function parseRequirements(texts: readonly string[]): Requirement[] {
  return [...new Set(texts)].map((text) => {
    if (Object.hasOwn(REQUIREMENTS, text)) return text as Requirement;
    throw new AssayError('E_USAGE', `There is no requirement "${text}"`, {
      hint: `--require knows ${Object.keys(REQUIREMENTS).join(', ')}`,
    });
  });
}
