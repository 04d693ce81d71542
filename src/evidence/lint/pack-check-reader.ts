import type { PackCheck } from './pack.ts';
import { PackFields, type PackProblem, toPlainValue } from './pack-fields.ts';
import { makeTypePattern } from './type-pattern.ts';

/** The fields of each check besides `type`. */
const FIELDS = {
  event_count: ['min'],
  event_pairs: ['start_pattern', 'finish_pattern'],
  event_field_present: ['paths_any_of', 'any_of', 'in_data'],
  event_type_exists: ['pattern'],
  manifest_field: ['path', 'required'],
  json_path_exists: ['paths', 'value_equals'],
  g3_authorization_context_present: [],
  conditional: ['condition', 'then'],
} as const;

export function readCheck(fields: PackFields, problems: PackProblem[]): PackCheck {
  const type = fields.text('type');
  // A check of an engine to come may have any fields.
  if (!isKnown(type)) return { type: 'unsupported', name: type };
  fields.refuseUnknown(['type', ...FIELDS[type]]);
  switch (type) {
    case 'event_count':
      return { type, min: fields.count('min') };
    case 'event_pairs':
      return {
        type,
        start_pattern: readPattern(fields, 'start_pattern'),
        finish_pattern: readPattern(fields, 'finish_pattern'),
      };
    case 'event_field_present':
      return { type, paths: readFieldPaths(fields) };
    case 'event_type_exists':
      return { type, pattern: readPattern(fields, 'pattern') };
    case 'manifest_field':
      return { type, path: fields.text('path'), required: fields.flag('required') };
    case 'json_path_exists':
      return readPathCheck(fields);
    case 'conditional':
      return readConditional(fields, problems);
    default:
      return { type };
  }
}

function isKnown(type: string): type is keyof typeof FIELDS {
  return Object.hasOwn(FIELDS, type);
}

function readPattern(fields: PackFields, name: string): string {
  const text = fields.text(name);
  const pattern = makeTypePattern(text);
  if (typeof pattern !== 'function') fields.report(name, pattern.problem);
  return text;
}

function readFieldPaths(fields: PackFields): string[] {
  if (fields.node('any_of') === undefined) return fields.texts('paths_any_of');
  if (fields.node('paths_any_of') !== undefined) return fields.texts('paths_any_of');
  const start = fields.flag('in_data') ? '/data/' : '/';
  return fields.texts('any_of').map((name) => start + name);
}

function readPathCheck(fields: PackFields): PackCheck {
  const paths = fields.texts('paths');
  const wanted = fields.node('value_equals');
  if (wanted === undefined) return { type: 'json_path_exists', paths };
  if (paths.length > 1) fields.report('paths', 'value_equals goes with exactly one path');
  return { type: 'json_path_exists', paths, value_equals: { value: toPlainValue(wanted) } };
}

/** `condition.all` with equal values, and `then` a single path. Other forms are of an engine to come. */
function readConditional(fields: PackFields, problems: PackProblem[]): PackCheck {
  const condition = fields.map('condition');
  const then = fields.map('then');
  const unsupported: PackCheck = { type: 'unsupported', name: 'conditional, in this form' };
  if (!condition || !then) return unsupported;
  const clauses = condition.node('all');
  if (clauses?.kind !== 'list' || clauses.items.length === 0) return unsupported;
  if (then.text('type') !== 'json_path_exists' || then.node('value_equals')) return unsupported;
  condition.refuseUnknown(['all']);
  then.refuseUnknown(['type', 'paths']);
  const [path = '', ...more] = then.texts('paths');
  if (more.length > 0) return unsupported;
  const all = clauses.items.map((node) => {
    const clause = new PackFields(node, 'the clause', problems);
    clause.refuseUnknown(['path', 'equals']);
    const equals = clause.node('equals');
    if (!equals) clause.report('equals', 'the clause has no equals');
    return { path: clause.text('path'), equals: { value: equals && toPlainValue(equals) } };
  });
  return { type: 'conditional', all, path };
}
