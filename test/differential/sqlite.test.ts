import { declareWorkloads } from './declare.ts';

declareWorkloads('sqlite', [
  {
    name: 'write-ahead log, concurrent writers, vacuum',
    files: ['sqlite.sh'],
    command: ['/bin/bash', 'sqlite.sh'],
    tools: ['sqlite3'],
    // Which writer comes first is chance; a rollback journal has a random nonce.
    volatileFiles: /^wal\.db|-journal$/,
  },
]);
