import { NET_FORM, parseNetTarget } from './net-target.ts';
import { quote, type Refusal } from './problems.ts';
import {
  COUNT_FORM,
  DURATION_FORM,
  parseCount,
  parseDuration,
  parseSize,
  SIZE_FORM,
} from './units.ts';

/** The shape of a value in a policy file. Validation and the JSON Schema both follow from it. */
export type Shape = { readonly describe?: string | undefined } & (
  | { readonly kind: 'text'; readonly form: string; check?(text: string): Refusal | undefined }
  /** A number or a text with a unit. */
  | {
      readonly kind: 'quantity';
      readonly form: string;
      parse(value: string | number): number | undefined;
    }
  | { readonly kind: 'choice'; readonly values: readonly string[] }
  | { readonly kind: 'boolean' }
  /** `canBeNumber`: a bare number is taken as the text that was written. */
  | { readonly kind: 'list'; readonly of: Shape; readonly canBeNumber?: boolean }
  | {
      readonly kind: 'map';
      readonly keys: Readonly<Record<string, Shape>>;
      readonly isOneOf?: boolean;
    }
  /** Any names, each with a text; numbers and booleans are taken as the text that was written. */
  | { readonly kind: 'texts'; readonly name: string; checkName(name: string): boolean }
);

const EXAMPLE_OPS = ['fs.read', 'fs.write', 'fs.exec', 'net.connect'] as const;

function paths(describe: string): Shape {
  return { kind: 'list', of: { kind: 'text', form: 'a path or pattern' }, describe };
}

function hosts(describe: string): Shape {
  const check = (text: string): Refusal | undefined => {
    const target = parseNetTarget(text);
    return 'problem' in target ? target : undefined;
  };
  return { kind: 'list', of: { kind: 'text', form: NET_FORM, check }, canBeNumber: true, describe };
}

function names(describe: string): Shape {
  const check = (text: string): Refusal | undefined =>
    isEnvName(text)
      ? undefined
      : { problem: `${quote(text)} is not the name of an environment variable` };
  return { kind: 'list', of: { kind: 'text', form: 'the name of a variable', check }, describe };
}

function isEnvName(name: string): boolean {
  return name !== '' && !/[=\s\0]/.test(name);
}

function duration(describe: string): Shape {
  return { kind: 'quantity', form: DURATION_FORM, parse: parseDuration, describe };
}

function size(describe: string): Shape {
  return { kind: 'quantity', form: SIZE_FORM, parse: parseSize, describe };
}

function count(describe: string): Shape {
  return { kind: 'quantity', form: COUNT_FORM, parse: parseCount, describe };
}

function checkExample(text: string): Refusal | undefined {
  const space = text.indexOf(' ');
  const op = space < 0 ? text : text.slice(0, space);
  if (!EXAMPLE_OPS.some((known) => known === op)) {
    return {
      problem: `${quote(op)} is not an operation`,
      hint: `an example is one of ${EXAMPLE_OPS.join(', ')}, a space, and a path or host`,
    };
  }
  return space < 0 || text.slice(space).trim() === ''
    ? {
        problem: `the example says \`${op}\` but not of what`,
        hint: `write \`${op} <${op === 'net.connect' ? 'host' : 'path'}>\``,
      }
    : undefined;
}

const example: Shape = {
  kind: 'text',
  form: 'an operation and its object, such as `fs.read ~/.ssh`',
  check: checkExample,
};

export const POLICY_SHAPE: Shape & { kind: 'map' } = {
  kind: 'map',
  describe: 'An assay policy: what a run may read, write, execute and connect to.',
  keys: {
    api_version: {
      kind: 'choice',
      values: ['assay/v1'],
      describe: 'Version of the policy format.',
    },
    extends: {
      kind: 'list',
      of: { kind: 'text', form: 'the name of a preset or the path of a policy file' },
      describe:
        'Presets and policy files this one builds on, in order. Paths are relative to this file.',
    },
    fs: {
      kind: 'map',
      describe: 'Files. Entries cover what they name and everything below. Deny beats allow.',
      keys: {
        allow: paths('May be read, written and executed.'),
        read: paths('May be read.'),
        write: paths('May be read and written.'),
        exec: paths('May be read and executed.'),
        deny: paths('May not be touched, whatever allows it. Without a slash: that name anywhere.'),
        protect: paths(
          'May not be written, whatever allows it. Without a slash: that name anywhere.',
        ),
      },
    },
    net: {
      kind: 'map',
      describe: 'Network destinations. What is not allowed is refused.',
      keys: {
        allow: hosts('May be connected to.'),
        deny: hosts(
          'May not be connected to. A range of everything stands for the default and yields to net.allow.',
        ),
      },
    },
    unix: {
      kind: 'map',
      describe: 'Unix sockets outside the sandbox.',
      keys: { allow: paths('Paths of sockets that may be connected to.') },
    },
    env: {
      kind: 'map',
      describe: 'Environment variables.',
      keys: {
        mode: {
          kind: 'choice',
          values: ['scrub', 'strict', 'passthrough'],
          describe:
            'scrub: all but secrets. strict: a safe base and env.allow. passthrough: everything.',
        },
        strip_exec: {
          kind: 'boolean',
          describe: 'Drop variables that make programs run other programs.',
        },
        safe_path: { kind: 'boolean', describe: 'Replace PATH by system directories.' },
        allow: names('Variables to pass on although they would be dropped.'),
        deny: names('Variables to drop.'),
        set: {
          kind: 'texts',
          name: 'the name of a variable',
          checkName: isEnvName,
          describe: 'Variables to set.',
        },
      },
    },
    limits: {
      kind: 'map',
      describe: 'Limits on the whole tree of processes, but for open_files.',
      keys: {
        timeout: duration('Wall-clock time.'),
        cpu: duration('Processor time.'),
        memory: size('Memory.'),
        pids: count('Processes and threads at one time.'),
        disk: size('Bytes on disk in the private temporary directory.'),
        files: count('Files and directories the run may create.'),
        open_files: count('Open files for each process.'),
      },
    },
    tests: {
      kind: 'list',
      describe: 'Examples that must hold, checked whenever the policy is loaded.',
      of: {
        kind: 'map',
        isOneOf: true,
        keys: {
          allow: { ...example, describe: 'An operation that must be allowed.' },
          deny: { ...example, describe: 'An operation that must be refused.' },
        },
      },
    },
  },
};
