import { readFileSync } from 'node:fs';
import { nameCommonFilter } from '../plan/seccomp/common-filter-name.ts';
import type { FilterRequest } from '../plan/seccomp/filter-request.ts';
import { toByteText } from './encode-plan.ts';
import { distPath } from './helper-path.ts';

/** The filter as the text of its bytes: from the build for ordinary runs, compiled here for all others. */
export async function loadFilter(request: FilterRequest | null): Promise<string | null> {
  if (!request) return null;
  const name = nameCommonFilter(request);
  if (name !== undefined) return readFileSync(distPath(`filters/${name}`), 'utf8');
  const { compileFilter } = await import('../plan/seccomp/compile-filter.ts');
  return toByteText(compileFilter(request));
}
