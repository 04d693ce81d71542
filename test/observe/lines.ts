import { createHash } from 'node:crypto';
import { Recorder, type RecorderOptions, type Recording } from '../../src/observe/recorder.ts';

/** As the helper writes a name: a character for each byte, and those outside printable ASCII escaped. */
export function quoteBytes(bytes: Buffer | string): string {
  const text = Buffer.from(bytes).toString('latin1');
  return JSON.stringify(text).replaceAll(
    /[^ -~]/g,
    (byte) => `\\u${byte.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

export interface EventFields {
  readonly id?: number;
  readonly program?: number;
  readonly op?: string;
  readonly path?: Buffer | string;
  readonly requested?: Buffer | string;
  readonly errno?: number;
  readonly basis?: string;
  readonly rule?: number;
  readonly target?: Buffer | string;
  readonly flags?: number;
  readonly state?: string;
  readonly atMs?: number;
}

export function eventLine(fields: EventFields): string {
  const { id = 1, program = 1, op = 'create', errno = 0, basis = 'p', rule = 0 } = fields;
  const { path = '/w/a', requested = '', target = '', flags = 0, state = '', atMs = 0 } = fields;
  const names = [quoteBytes(path), quoteBytes(requested)].join(',');
  return `{"e":[${id},${program},"${op}",${names},${errno},"${basis}",${rule},${quoteBytes(target)},${flags},"${state}",${atMs}]}\n`;
}

export function programLine(id: number, parent: number, image: string, script = ''): string {
  const names = [quoteBytes(image), quoteBytes(script)].join(',');
  return `{"p":[${id},${parent},${names},"1","2","3","4","5","",7,false]}\n`;
}

export function commandLine(program: number, argv: readonly string[], isCut = false): string {
  return `{"a":[${program},[${argv.map(quoteBytes).join(',')}],${isCut}]}\n`;
}

export function newRecorder(options: Partial<RecorderOptions> = {}): Recorder {
  return new Recorder({
    describeRule: (id) => `rule ${id}`,
    digest: (text) => createHash('sha256').update(text).digest('hex'),
    ...options,
  });
}

export function record(text: string, options: Partial<RecorderOptions> = {}): Recording {
  const recorder = newRecorder(options);
  recorder.feed(text);
  return recorder.finish();
}
