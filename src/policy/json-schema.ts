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
      const items = shape.canBeNumber ? { ...item, type: ['string', 'integer'] } : item;
      return { type: ['array', 'null'], items };
    }
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
        type: shape.isOneOf ? 'object' : ['object', 'null'],
        properties,
        additionalProperties: false,
        ...count,
      };
    }
  }
}
