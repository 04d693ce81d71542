import type { SourceNode } from '../../policy/source-node.ts';
import {
  COMPATIBLE_VERSION,
  EVIDENCE_SCHEMA_VERSION,
  type Pack,
  PACK_KINDS,
  type PackRule,
} from './pack.ts';
import { readCheck } from './pack-check-reader.ts';
import { PackFields, type PackProblem } from './pack-fields.ts';
import { isOlder, VERSION_FORM } from './version-order.ts';

const PACK_FIELDS = [
  'name',
  'version',
  'kind',
  'description',
  'author',
  'license',
  'source_url',
  'disclaimer',
  'requires',
  'rules',
];
const REQUIRES_FIELDS = ['assay_min_version', 'evidence_schema_version'];
const RULE_FIELDS = [
  'id',
  'severity',
  'description',
  'article_ref',
  'help_markdown',
  'check',
  'engine_min_version',
  'event_types',
];

const NAME = {
  form: /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/,
  like: 'small letters, digits and hyphens',
};
const VERSION = { form: VERSION_FORM, like: 'such as 1.0.0' };
const RULE_ID = { form: /^[\w.-]{1,100}$/, like: 'letters, digits, dots, hyphens and underscores' };
const MIN_VERSION = /^(?:>=\s*)?(\d{1,6}(?:\.\d{1,6}){0,2})$/;

/** Everything that is wrong is in `problems`; what is returned counts only when nothing is. */
export function readPackNode(root: SourceNode): {
  readonly pack: Pack;
  readonly problems: readonly PackProblem[];
} {
  const problems: PackProblem[] = [];
  const fields = new PackFields(root, 'the pack', problems);
  fields.refuseUnknown(PACK_FIELDS);
  const kind = fields.choice('kind', PACK_KINDS) ?? 'quality';
  const disclaimer = fields.optionalText('disclaimer');
  if (kind === 'compliance' && disclaimer === undefined)
    fields.report('kind', 'a pack about compliance needs a disclaimer');
  const pack: Pack = {
    name: fields.text('name', NAME),
    version: fields.text('version', VERSION),
    kind,
    description: fields.text('description'),
    author: fields.text('author'),
    license: fields.text('license'),
    source_url: fields.optionalText('source_url'),
    disclaimer,
    requires: readRequires(fields),
    rules: fields
      .list('rules')
      .map((node) => readRule(new PackFields(node, 'the rule', problems), problems)),
  };
  findRepeated(pack, fields);
  return { pack, problems };
}

function readRequires(pack: PackFields): Pack['requires'] {
  const fields = pack.map('requires');
  if (fields === undefined) return { assay_min_version: '' };
  fields.refuseUnknown(REQUIRES_FIELDS);
  const minimum = fields.text('assay_min_version', {
    form: MIN_VERSION,
    like: 'such as ">=2.10.0"',
  });
  const wanted = MIN_VERSION.exec(minimum)?.[1];
  if (wanted !== undefined && isOlder(COMPATIBLE_VERSION, wanted))
    fields.report(
      'assay_min_version',
      `the pack needs ${minimum}; what there is here is that of ${COMPATIBLE_VERSION}`,
    );
  const schema = fields.optionalText('evidence_schema_version', VERSION);
  if (schema !== undefined && !/^1(?:\.0){0,2}$/.test(schema))
    fields.report(
      'evidence_schema_version',
      `the pack is for evidence of version ${schema}, and this is ${EVIDENCE_SCHEMA_VERSION}`,
    );
  return { assay_min_version: minimum, evidence_schema_version: schema };
}

function readRule(fields: PackFields, problems: PackProblem[]): PackRule {
  fields.refuseUnknown(RULE_FIELDS);
  const severity = fields.choice('severity', ['error', 'warning', 'warn', 'info']) ?? 'info';
  const checkNode = fields.map('check');
  return {
    id: fields.text('id', RULE_ID),
    severity: severity === 'warn' ? 'warning' : severity,
    description: fields.text('description'),
    article_ref: fields.optionalText('article_ref'),
    help_markdown: fields.optionalText('help_markdown'),
    check: checkNode ? readCheck(checkNode, problems) : { type: 'unsupported', name: '' },
    engine_min_version: fields.optionalText('engine_min_version', VERSION),
    event_types: fields.node('event_types') ? fields.texts('event_types') : undefined,
  };
}

function findRepeated({ rules }: Pack, fields: PackFields): void {
  const seen = new Set<string>();
  for (const { id } of rules) {
    if (id !== '' && seen.has(id)) fields.report('rules', `two rules have the id ${id}`);
    seen.add(id);
  }
}
