import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';

import { count, type Workload, writeTree } from '../workload.ts';

/** The commit carries the time of the run, so its id and the names of its objects are other ones each time. */
const SCRIPT = `set -e
export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@example.org
git clone -q origin.git clone
cd clone
echo changed >> src/file-3.txt
echo new > src/new.txt
git mv src/file-4.txt src/moved.txt
git rm -q src/file-5.txt
git status --short
git add -A
git commit -qm 'change some files'
git log --oneline | wc -l
git switch -qc topic
echo topic > topic.txt
git add topic.txt
git commit -qm 'on a branch'
git switch -q main
git merge -q --no-ff -m merge topic
git gc -q
git push -q origin main topic
`;

export const gitWorkload: Workload = {
  name: 'git clone, edit, commit, merge, gc and push',
  tools: ['git'],
  command: ['/bin/sh', 'work.sh'],
  prepare(dir) {
    const files = count(12).map((n) => [`src/file-${n}.txt`, `line ${n}\n`.repeat(n)] as const);
    writeTree(dir, { 'work.sh': SCRIPT });
    writeTree(join(dir, 'seed'), { ...Object.fromEntries(files), 'README.md': '# Seed\n' });
    const git = (...args: readonly string[]): unknown =>
      execFileSync('git', ['-C', join(dir, 'seed'), ...args], { env: FIXED });
    git('init', '-q', '-b', 'main');
    git('add', '-A');
    git('commit', '-qm', 'first');
    git('clone', '-q', '--bare', '--no-hardlinks', '.', '../origin.git');
    // It holds the path of the seed.
    git('--git-dir=../origin.git', 'remote', 'remove', 'origin');
    rmSync(join(dir, 'seed'), { recursive: true });
  },
};

const FIXED = {
  PATH: process.env['PATH'],
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_TEMPLATE_DIR: '',
  GIT_AUTHOR_NAME: 'S',
  GIT_AUTHOR_EMAIL: 's@example.org',
  GIT_COMMITTER_NAME: 'S',
  GIT_COMMITTER_EMAIL: 's@example.org',
  GIT_AUTHOR_DATE: '2020-01-02T03:04:05Z',
  GIT_COMMITTER_DATE: '2020-01-02T03:04:05Z',
};
