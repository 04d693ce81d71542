import type { SeenEvent } from './rule.ts';

type Visit = (text: string, pointer: string) => void;

/** Every text of an event that somebody chose: the subject, and all of `data`, names included. */
export function visitTexts({ event }: SeenEvent, visit: Visit): void {
  const { subject, data } = event;
  if (typeof subject === 'string') visit(subject, '/subject');
  // Most events say their subject in their data again.
  visitValue(data, '/data', (text, pointer) => text !== subject && visit(text, pointer));
}

/** A longer name is no name of a field. */
const MAX_NAME_LENGTH = 40;

/** A place in a list says nothing, and would differ from bundle to bundle. */
function visitValue(value: unknown, pointer: string, visit: Visit): void {
  if (typeof value === 'string') {
    visit(value, pointer);
  } else if (Array.isArray(value)) {
    for (const item of value) visitValue(item, `${pointer}/*`, visit);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      const isField = name.length <= MAX_NAME_LENGTH;
      if (!isField) visit(name, `${pointer}/*`);
      visitValue(member, `${pointer}/${isField ? name : '*'}`, visit);
    }
  }
}
