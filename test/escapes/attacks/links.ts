import * as fs from 'node:fs';

import type { Attack } from '../attack.ts';
import type { Fixture } from '../fixture.ts';
import { exists, plants } from '../marks.ts';
import { config, makeRepository, makeWorktree } from './git.ts';

const HOOK_FILE = '#!/bin/sh\nexit 0\n';
const POLICY = 'api_version: assay/v1\nextends: [coding-agent]\n';

function withLinkedHook(fixture: Fixture): void {
  makeRepository(fixture);
  fixture.write('work/scripts/check', HOOK_FILE, 0o755);
  fs.symlinkSync('../../scripts/check', fixture.at('work/.git/hooks/pre-commit'));
}

function withWorktreeHooks(fixture: Fixture): void {
  makeWorktree(fixture);
  fixture.git(['config', 'core.hooksPath', '.githooks'], fixture.at('outside/repo'));
  fixture.write('work/.githooks/pre-commit', HOOK_FILE, 0o755);
}

function withLinkedPolicy(fixture: Fixture): void {
  makeRepository(fixture);
  fixture.write('work/policies/real.yaml', POLICY);
  fs.symlinkSync('policies/real.yaml', fixture.at('work/p.yaml'));
}

/** The policy itself lies outside. */
function withPolicy(rule: string): (fixture: Fixture) => void {
  return (fixture) => {
    makeRepository(fixture);
    fixture.write('policy.yaml', `${POLICY}fs:\n  ${rule}\n`);
    fixture.write('work/v1/f', 'old');
    fs.symlinkSync('v1', fixture.at('work/cur'));
    // As an earlier run may have left it.
    fs.symlinkSync(fixture.at('outside'), fixture.at('work/gen'));
  };
}

const outsidePolicy = (fixture: Fixture) => ['--policy', fixture.at('policy.yaml')];
const ownPolicy = () => ['--policy', 'p.yaml'];

/** Links that were there before: both the name and what it leads to count. */
export const LINK_ATTACKS: readonly Attack[] = [
  config({
    id: 'link-hook-target',
    title: 'write the file that a hook is a link to',
    prepare: withLinkedHook,
    script: 'echo "# $2" >> scripts/check',
    isSuccess: plants('work/.git/hooks/pre-commit'),
  }),
  config({
    id: 'link-hook-target-replace',
    title: 'replace the file that a hook is a link to',
    prepare: withLinkedHook,
    script: 'echo "# $2" > x; mv -f x scripts/check',
    isSuccess: plants('work/.git/hooks/pre-commit'),
  }),
  config({
    id: 'link-hook-target-parent',
    title: 'replace the directory of the file that a hook is a link to',
    prepare: withLinkedHook,
    script: 'mv scripts old; mkdir scripts; echo "# $2" > scripts/check',
    isSuccess: plants('work/.git/hooks/pre-commit'),
  }),
  config({
    id: 'link-worktree-hooks-path',
    title: 'write a hook where core.hooksPath of the repository of a worktree leads',
    prepare: withWorktreeHooks,
    script: 'echo "# $2" >> .githooks/pre-commit',
    isSuccess: plants('work/.githooks/pre-commit'),
  }),
  config({
    id: 'link-policy-replace',
    title: "replace the link that is assay's policy",
    prepare: withLinkedPolicy,
    flags: ownPolicy,
    script: 'echo "# $2" > x; mv -f x p.yaml',
    isSuccess: plants('work/p.yaml'),
  }),
  config({
    id: 'link-policy-target',
    title: "write the file that assay's policy is a link to",
    prepare: withLinkedPolicy,
    flags: ownPolicy,
    script: 'echo "# $2" >> policies/real.yaml',
    isSuccess: plants('work/p.yaml'),
  }),
  config({
    id: 'link-policy-target-parent',
    title: "replace the directory of the file that assay's policy is a link to",
    prepare: withLinkedPolicy,
    flags: ownPolicy,
    script: 'mv policies old; mkdir policies; echo "# $2" > policies/real.yaml',
    isSuccess: plants('work/p.yaml'),
  }),
  config({
    id: 'link-protect-replace',
    title: 'point a protected link elsewhere',
    prepare: withPolicy("protect: ['${CWD}/cur']"),
    flags: outsidePolicy,
    script: 'mkdir v2; echo "$2" > v2/f; ln -sfn v2 cur',
    isSuccess: plants('work/cur/f'),
  }),
  config({
    id: 'link-protect-target',
    title: 'write what a protected link leads to',
    prepare: withPolicy("protect: ['${CWD}/cur']"),
    flags: outsidePolicy,
    script: 'echo "$2" > v1/f',
    isSuccess: plants('work/cur/f'),
  }),
  config({
    id: 'link-grant-astray',
    title: 'have a granted directory of the workspace lead outside',
    class: 'file write',
    control: ['landlock', 'mount'],
    prepare: withPolicy("write: ['${CWD}/gen']"),
    flags: outsidePolicy,
    script: 'echo "$2" > gen/planted',
    isSuccess: exists('outside/planted'),
  }),
];
