/*
 * OTLP/JSON: the JSON mapping of Protocol Buffers, except that ids are hex. Whole numbers of 64 bits are texts in
 * decimal, enumerations are numbers, names are in camel case.
 */

export type AttributeValue = string | number | boolean | readonly string[] | undefined;

export interface KeyValue {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/** What is undefined is left out. */
export function toAttributes(values: Readonly<Record<string, AttributeValue>>): KeyValue[] {
  return Object.entries(values).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: toAnyValue(value) }],
  );
}

function toAnyValue(value: string | number | boolean | readonly string[]): KeyValue['value'] {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number') return { intValue: String(value) };
  return { arrayValue: { values: value.map((item) => ({ stringValue: item })) } };
}

/** RFC 3339 in UTC → nanoseconds since 1970, in decimal. */
export function toNanoseconds(time: string): string {
  const [, fraction = ''] = /\.([0-9]+)/.exec(time) ?? [];
  const seconds = Math.floor(Date.parse(time) / 1000);
  return `${seconds}${fraction.slice(0, 9).padEnd(9, '0')}`;
}
