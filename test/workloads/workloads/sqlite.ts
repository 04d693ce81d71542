import { execFileSync } from 'node:child_process';

import { type Workload, writeTree } from '../workload.ts';

const SCRIPT = `set -e
sqlite3 wal.db 'pragma journal_mode=wal; create table t(id integer primary key, v text);'
for writer in 1 2 3; do
  for i in 1 2 3 4 5; do
    printf '.timeout 20000\\nbegin immediate; insert into t(v) values(%s); commit;\\n' "$writer$i"
  done | sqlite3 wal.db &
done
wait
sqlite3 wal.db 'select count(*) from t; pragma wal_checkpoint(truncate);'
sqlite3 plain.db 'create table t(a, b); with recursive n(i) as (select 1 union all select i+1 from n where i<500) insert into t select i, hex(i) from n;'
sqlite3 plain.db 'begin; delete from t; rollback; delete from t where a%3; vacuum;'
sqlite3 plain.db '.backup copy.db'
sqlite3 plain.db '.dump' > dump.sql
sqlite3 old.db 'insert into kept values(2)'
rm dump.sql
`;

export const sqliteWorkload: Workload = {
  name: 'sqlite with a write-ahead log and with a journal',
  tools: ['sqlite3'],
  command: ['/bin/sh', 'work.sh'],
  prepare(dir) {
    writeTree(dir, { 'work.sh': SCRIPT });
    const first = 'create table kept(a); insert into kept values(1)';
    execFileSync('/bin/sh', ['-c', 'sqlite3 old.db "$1"', 'sh', first], { cwd: dir });
  },
};
