import * as root from '@opentelemetry/otlp-transformer/build/src/generated/root.js';

/** The reader that OpenTelemetry makes of its published .proto files. */
interface Message {
  fromObject(object: object): object;
  encode(message: object): { finish(): Uint8Array };
  decode(bytes: Uint8Array): object;
  toObject(message: object, options: object): object;
}
interface Collector {
  readonly trace: { readonly v1: { readonly ExportTraceServiceRequest: Message } };
  readonly logs: { readonly v1: { readonly ExportLogsServiceRequest: Message } };
}
const { trace, logs } = (root as unknown as { opentelemetry: { proto: { collector: Collector } } })
  .opentelemetry.proto.collector;

const IDS = new Set(['traceId', 'spanId', 'parentSpanId']);

/** Ids are hex in OTLP, where the JSON of Protocol Buffers has base64. */
function withIds(value: unknown, convert: (id: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => withIds(item, convert));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      IDS.has(name) ? convert(member as string) : withIds(member, convert),
    ]),
  );
}

/** Through the reader and the wire, and back: what it does not know, or has as another type, is not there afterwards. */
export function readBack(request: object): unknown {
  const message =
    'resourceLogs' in request
      ? logs.v1.ExportLogsServiceRequest
      : trace.v1.ExportTraceServiceRequest;
  const toBase64 = (id: string): string => Buffer.from(id, 'hex').toString('base64');
  const toHex = (id: string): string => Buffer.from(id, 'base64').toString('hex');
  const read = message.fromObject(withIds(request, toBase64) as object);
  const bytes = message.encode(read).finish();
  const back = message.toObject(message.decode(bytes), { longs: String, bytes: String });
  return withIds(back, toHex);
}
