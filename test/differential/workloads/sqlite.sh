set -u
say() { echo "== $*"; "$@"; echo "=> $?"; }
say sqlite3 wal.db 'pragma journal_mode=wal; create table t(id integer primary key, v text);'
for writer in 1 2 3 4; do
  (
    for i in $(seq 1 10); do
      echo ".timeout 20000"
      echo "begin immediate; insert into t(v) values('$writer-$i'); commit;"
    done | sqlite3 wal.db
    echo "writer $writer => $?" >"writer-$writer"
  ) &
done
wait
cat writer-*
say sqlite3 wal.db 'select count(*), count(distinct v) from t; pragma integrity_check; pragma wal_checkpoint(truncate);'
say sqlite3 plain.db 'create table t(a, b); with recursive n(i) as (select 1 union all select i+1 from n where i<2000) insert into t select i, hex(i*i) from n; create index i on t(b);'
say sqlite3 plain.db 'begin; delete from t where a%2; rollback; select count(*) from t;'
say sqlite3 plain.db 'delete from t where a%3; vacuum; select count(*), sum(a) from t; pragma page_count;'
say sqlite3 plain.db '.backup copy.db' 
say sqlite3 plain.db "attach 'other.db' as o; create table o.x as select * from t limit 3; select * from o.x;"
say sqlite3 plain.db '.dump' >dump.sql
wc -l dump.sql
say sqlite3 -readonly plain.db 'insert into t values(1,2)'
say sqlite3 missing/dir.db 'select 1'
echo 'not a database, but long enough to be looked at as one' >bad.db
say sqlite3 bad.db 'select * from t'
say sqlite3 plain.db 'pragma temp_store=file; create temp table tt as select * from t; select count(*) from tt;'
say sqlite3 plain.db "pragma mmap_size=1000000; select count(*) from t where b like '%A%';"
say sqlite3 plain.db 'pragma locking_mode=exclusive; pragma journal_mode=persist; insert into t values(0,0);'
ls
echo done
