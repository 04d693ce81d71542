import {
  checkHeader,
  checkInjectHost,
  checkInjection,
  checkMethod,
  checkPath,
  checkRuledHost,
} from './http-entry.ts';
import { NET_FORM, parseNetTarget } from './net-target.ts';
import { quote, type Refusal } from './problems.ts';
import { checkEnd, checkInstant, INSTANT_FORM } from './rule-end.ts';
import {
  COUNT_FORM,
  DURATION_FORM,
  MEMORY_FORM,
  parseCount,
  parseDuration,
  parseMemory,
  parsePids,
  parseSize,
  PIDS_FORM,
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
      readonly required?: readonly string[];
      /** What the keys have to be to each other. */
      check?(value: Readonly<Record<string, unknown>>): Refusal | undefined;
    }
  /** A text, or a map that says more. */
  | {
      readonly kind: 'entry';
      readonly text: Shape & { kind: 'text' };
      readonly map: Shape & { kind: 'map' };
    }
  /** Any names, each with a text; numbers and booleans are taken as the text that was written. */
  | { readonly kind: 'texts'; readonly name: string; checkName(name: string): boolean }
);

const EXAMPLE_OPS = ['fs.read', 'fs.write', 'fs.exec', 'net.connect'] as const;

function paths(describe: string): Shape {
  return { kind: 'list', of: { kind: 'text', form: 'a path or pattern' }, describe };
}

function checkHost(text: string): Refusal | undefined {
  const target = parseNetTarget(text);
  return 'problem' in target ? target : undefined;
}

const HOST: Shape & { kind: 'text' } = { kind: 'text', form: NET_FORM, check: checkHost };

function hosts(describe: string): Shape {
  return { kind: 'list', of: HOST, canBeNumber: true, describe };
}

/** Hosts, of which some say what requests may be, or how long they hold. */
function ruledHosts(describe: string): Shape {
  const map: Shape & { kind: 'map' } = {
    kind: 'map',
    required: ['host'],
    keys: {
      host: {
        ...HOST,
        check: checkRuledHost,
        describe: 'The destination, as it would stand alone.',
      },
      methods: {
        kind: 'list',
        of: { kind: 'text', form: 'an HTTP method', check: checkMethod },
        describe: 'The HTTP methods that requests may have.',
      },
      paths: {
        kind: 'list',
        of: { kind: 'text', form: 'a path', check: checkPath },
        describe: 'Paths that requests may be for, each with what is below it.',
      },
      tls: {
        kind: 'boolean',
        describe: 'Open TLS to this host with a certificate of assay, to see its requests.',
      },
      until: {
        kind: 'text',
        form: INSTANT_FORM,
        check: checkInstant,
        describe: 'When the entry ends; connections that it has allowed are cut then.',
      },
      for: duration('How long the entry holds, from the start of the run on.'),
    },
    check: checkEnd,
  };
  return { kind: 'list', of: { kind: 'entry', text: HOST, map }, canBeNumber: true, describe };
}

const injections: Shape = {
  kind: 'list',
  describe: 'Headers that are added outside, so that their values never enter the sandbox.',
  of: {
    kind: 'map',
    required: ['host', 'header'],
    check: checkInjection,
    keys: {
      host: { ...HOST, check: checkInjectHost, describe: 'Requests to this host get the header.' },
      header: {
        kind: 'text',
        form: 'the name of a header',
        check: checkHeader,
        describe: 'Such as Authorization. What the program sends under this name is replaced.',
      },
      env: {
        kind: 'text',
        form: 'the name of a variable',
        check: checkEnvName,
        describe: 'The variable of the host that holds the value.',
      },
      command: {
        kind: 'list',
        of: { kind: 'text', form: 'a program or an argument of it' },
        describe: 'A program of the host that prints the value, and its arguments.',
      },
      tls: {
        kind: 'boolean',
        describe: 'Open TLS to this host with a certificate of assay; without, plain HTTP only.',
      },
    },
  },
};

function checkEnvName(text: string): Refusal | undefined {
  return isEnvName(text)
    ? undefined
    : { problem: `${quote(text)} is not the name of an environment variable` };
}

function names(describe: string): Shape {
  const of: Shape = { kind: 'text', form: 'the name of a variable', check: checkEnvName };
  return { kind: 'list', of, describe };
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

function memory(describe: string): Shape {
  return { kind: 'quantity', form: MEMORY_FORM, parse: parseMemory, describe };
}

function processes(describe: string): Shape {
  return { kind: 'quantity', form: PIDS_FORM, parse: parsePids, describe };
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
        allow: ruledHosts('May be connected to.'),
        deny: hosts(
          'May not be connected to. A range of everything stands for the default and yields to net.allow.',
        ),
        inject: injections,
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
        memory: memory('Memory.'),
        pids: processes('Processes and threads at one time.'),
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
