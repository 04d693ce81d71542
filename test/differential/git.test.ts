import { declareWorkloads } from './declare.ts';

declareWorkloads('git', [
  {
    name: 'a day of git',
    files: ['git.sh'],
    command: ['/bin/bash', 'git.sh'],
    tools: ['git'],
    // The index holds times and inode numbers, and so does the size of its extensions.
    volatileFiles: /\.git\/(.*\/)?index$|one\.tar$/,
  },
]);
