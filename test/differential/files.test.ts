import { declareWorkloads } from './declare.ts';

declareWorkloads('files', [
  {
    name: 'tar, cp, mv, find, sort, sed, perl, patch',
    files: ['files.sh'],
    command: ['/bin/bash', 'files.sh'],
    tools: ['tar', 'gzip', 'perl', 'patch', 'python3', 'awk'],
    volatileText: [[/bash: line \d+/g, 'bash: line N']],
  },
]);
