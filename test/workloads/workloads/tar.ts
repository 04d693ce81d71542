import { symlinkSync } from 'node:fs';
import { join } from 'node:path';

import { count, type Workload, writeTree } from '../workload.ts';

const SCRIPT = `set -e
tar -czf tree.tgz tree
mkdir out
tar -xzf tree.tgz -C out
tar -xf tree.tgz -C out --overwrite tree/dir-1
rm -r tree/dir-2
tar -xzf tree.tgz --keep-newer-files
mv out/tree/dir-3 out/moved
rm tree.tgz
`;

export const tarWorkload: Workload = {
  name: 'tar create, extract and overwrite',
  tools: ['tar', 'gzip'],
  command: ['/bin/sh', 'work.sh'],
  prepare(dir) {
    writeTree(dir, { 'work.sh': SCRIPT });
    for (const n of count(6))
      for (const m of count(8))
        writeTree(dir, { [`tree/dir-${n}/file-${m}.txt`]: `${n} ${m}\n`.repeat(m) });
    writeTree(dir, {
      'tree/run.sh': '#!/bin/sh\nexit 0\n',
      // Names that git uses as well, in a tree that has nothing to do with git.
      'tree/dir-4/config/settings.txt': 'a = 1\n',
      'tree/dir-5/config': 'a = 1\n',
      'tree/dir-5/hooks/post-build': '#!/bin/sh\n',
    });
    symlinkSync('dir-1/file-1.txt', join(dir, 'tree/link'));
  },
};
