import { existsSync, readdirSync, realpathSync } from 'node:fs';
import type { BackendReport } from '../backend.ts';
import { OTHER_NODE } from './root-steps.ts';

/** The version is in the name of what the link leads to. */
function findPython(): BackendReport['languages']['python'] {
  const program = '/usr/bin/python3';
  if (!existsSync(program)) return undefined;
  const version = /python(3\.\d+)$/.exec(realpathSync.native(program))?.[1];
  return { argv: [program], ...(version !== undefined && { version }) };
}

function findBash(): BackendReport['languages']['bash'] {
  const program = ['/bin/bash', '/usr/bin/bash'].find((path) => existsSync(path));
  return program === undefined ? undefined : { argv: [program] };
}

/** Programs of the host that sandboxes see, and the node that runs this. */
export function findLanguages(): BackendReport['languages'] {
  const own = realpathSync.native(process.execPath);
  const isSeen = readdirSync('/').some(
    (name) => ['usr', 'bin', 'nix'].includes(name) && own.startsWith(`/${name}/`),
  );
  const python = findPython();
  const bash = findBash();
  return {
    ...(python && { python }),
    javascript: { argv: [isSeen ? own : OTHER_NODE], version: process.versions.node },
    ...(bash && { bash }),
  };
}
