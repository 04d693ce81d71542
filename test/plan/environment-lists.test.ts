import { describe, expect, it } from 'vitest';
import * as lists from '../../src/plan/environment-lists.ts';

describe('the lists of environment variables', () => {
  // What is compared is in capitals, so an entry in lower case would never match; neither would an empty one.
  it.each(Object.entries(lists))('%s holds names in capitals only', (_, entries) => {
    const odd = [...entries].filter((entry) => entry === '' || !/^[A-Z0-9_]+$/.test(entry));
    expect(odd).toEqual([]);
  });

  it('name no family with an underscore, since a family ends at the first one', () => {
    const families = [...lists.SAFE_FAMILIES, ...lists.SECRET_FAMILIES, ...lists.EXEC_FAMILIES];
    expect(families.filter((family) => family.includes('_'))).toEqual([]);
  });

  it('hold no name that a beginning or an ending covers already', () => {
    const covered = [...lists.EXEC_NAMES].filter(
      (name) =>
        lists.EXEC_BEGINNINGS.some((beginning) => name.startsWith(beginning)) ||
        lists.EXEC_ENDINGS.some((ending) => name.endsWith(ending)),
    );
    expect(covered).toEqual([]);
  });
});
