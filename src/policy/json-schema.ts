import { POLICY_SHAPE, type Shape } from './schema.ts';

export type JsonSchema = { readonly [key: string]: unknown };

/** The JSON Schema of a policy file, for editors. It says what has the right shape, not what makes sense. */
export function policyJsonSchema(): JsonSchema {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'assay policy',
    ...toSchema(POLICY_SHAPE),
  };
}

function toSchema(shape: Shape): JsonSchema {
  const described = shape.describe === undefined ? {} : { description: shape.describe };
  return { ...described, ...toConstraint(shape) };
}

function toConstraint(shape: Shape): JsonSchema {
  switch (shape.kind) {
    case 'text':
      return { type: 'string', minLength: 1 };
    case 'quantity':
      return { type: ['string', 'number'], minLength: 1, exclusiveMinimum: 0 };
    case 'choice':
      return { enum: shape.values };
    case 'boolean':
      return { type: 'boolean' };
    case 'list': {
      const item = toSchema(shape.of);
      const items = shape.canBeNumber ? withNumbers(item) : item;
      return { type: ['array', 'null'], items };
    }
    case 'entry':
      return { anyOf: [toSchema(shape.text), toSchema(shape.map)] };
    case 'texts':
      return {
        type: ['object', 'null'],
        additionalProperties: { type: ['string', 'number', 'boolean'] },
      };
    case 'map': {
      const properties = Object.fromEntries(
        Object.entries(shape.keys).map(([key, value]) => [key, toSchema(value)]),
      );
      const count = shape.isOneOf ? { minProperties: 1, maxProperties: 1 } : {};
      return {
        type: shape.isOneOf || shape.required ? 'object' : ['object', 'null'],
        properties,
        additionalProperties: false,
        ...count,
        ...(shape.required && { required: shape.required }),
      };
    }
  }
}

/** A text may be written as a number there. */
function withNumbers(schema: JsonSchema): JsonSchema {
  const either = schema['anyOf'] as readonly JsonSchema[] | undefined;
  if (either) return { ...schema, anyOf: either.map(withNumbers) };
  return schema['type'] === 'string' ? { ...schema, type: ['string', 'integer'] } : schema;
}
