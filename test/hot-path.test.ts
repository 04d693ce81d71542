import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

import { describe, expect, it } from 'vitest';

const SRC = join(import.meta.dirname, '../src');

/** What a file loads before it does anything, as scripts/build.mjs finds it. */
const STATIC_IMPORT = /^(?:import|export)( type)? [^'"]*?from '([^']+)';/gms;

function listStaticImports(file: string, found = new Map<string, string[]>()) {
  if (found.has(file)) return found;
  const imports = Array.from(readFileSync(file, 'utf8').matchAll(STATIC_IMPORT))
    .filter(([, type]) => !type)
    .map(([, , path = '']) => path);
  found.set(file, imports);
  for (const path of imports)
    if (path.startsWith('.')) listStaticImports(join(dirname(file), path), found);
  return found;
}

const HOT = listStaticImports(join(SRC, 'cli/main.ts'));
const MODULES = [...HOT.keys()].map((file) => relative(SRC, file));

/** Whole folders that no plain run needs before its program has started. */
const COLD_FOLDERS = [
  'egress',
  'observe',
  'evidence',
  'artifacts',
  'approvals',
  'backends',
  'tool',
  'harness',
  'serve',
];

/** The grammar of policy files, hosts and addresses, the doors to the network, and what only some commands do. */
const COLD_MODULES = [
  /^core\/(?!errors|printable|secret-names|secret-shapes|version)/,
  /^host\/(?!guess-facts|facts|cgroups|delegated-cgroup)/,
  /^policy\/(?:schema|validate|json-|parse-|yaml-|load|combine|examples|quick-net)/,
  /^policy\/(?:net-(?!entries)|decide-net|host|http-|idn|ip-|special-|effective-|suggest-)/,
  /^plan\/(?:named-net|network|doors|routed-ranges|trust)/,
  /^plan\/seccomp\/(?!common-filter-name)/,
  /^launch\/(?:door-|brokered-|gate|judge-|git-(?!file)|aftermath|image-|selftest)/,
  /^cli\/commands\/(?!sandbox)/,
  /^cli\/(?:doctor|explain|export|show|evidence-verify)\//,
  /^cli\/(?:help|completion|bash-|zsh-|run-|print-error|refusal-hints|host-)/,
];

describe('what every start loads', () => {
  it('is found at all', () => {
    expect(MODULES).toContain('cli/commands/sandbox.ts');
    expect(MODULES).toContain('plan/make-plan.ts');
  });

  it('holds nothing of folders that a plain run does without', () => {
    expect(MODULES.filter((path) => COLD_FOLDERS.includes(path.split('/')[0] ?? ''))).toEqual([]);
  });

  it('holds no module that is loaded when it is asked for', () => {
    expect(MODULES.filter((path) => COLD_MODULES.some((cold) => cold.test(path)))).toEqual([]);
  });

  it('takes no package, and of node what is there anyway', () => {
    const outside = [...HOT.values()].flat().filter((name) => !name.startsWith('.'));
    expect([...new Set(outside)].sort()).toEqual(['node:fs', 'node:path']);
  });
});
