set -u
say() { echo "== $*"; "$@"; echo "=> $?"; }
coproc BC { while read -r a b; do echo "$((a + b))"; done; }
echo "2 3" >&"${BC[1]}"; read -r sum <&"${BC[0]}"; echo "coproc $sum"
exec {BC[1]}>&-; wait
diff <(seq 1 5) <(seq 2 6); echo "=> $?"
echo out > >(cat >substituted); wait; until test -s substituted; do sleep 0.01; done; cat substituted
cat <<HERE
here $((1 + 1)) $(echo nested)
HERE
cat <<<"here string"
seq 1 20000 | cat <<<"$(seq 1 20000)" | wc -l
trap 'echo exit trap' EXIT; trap 'echo usr1' USR1; kill -USR1 $$
(trap 'echo sub exit' EXIT; exit 3); echo "=> $?"
(set -m; sleep 0.1 & wait $!; echo "monitored $?")
(sleep 5 & kill $!; wait $!; echo "killed $?") 2>&1
for i in 1 2 3; do (sleep 0.$((i * i)); exit $i) & done; wait -n; echo "first $?"; wait
say timeout 0.2 sleep 5
say timeout -s KILL 0.2 sleep 5
say timeout --preserve-status 1 sh -c 'trap "exit 7" TERM; sleep 5 & wait'
say timeout 5 true
say nohup sh -c 'echo from nohup'
say flock lockfile echo locked
(flock 9; flock -n lockfile echo never; echo "=> $?") 9>lockfile
mkfifo pipe; (echo through fifo >pipe) & cat pipe; wait
(cat pipe >from-pipe) & seq 1 1000 >pipe; wait; wc -l <from-pipe
exec 5<>pipe; echo both >&5; read -r line <&5; echo "$line"; exec 5>&-
echo to stderr | tee /dev/stderr
echo from stdin | cat /dev/stdin
echo from fd | cat /dev/fd/0
echo x >/dev/stdout; echo y >/dev/stderr; echo z >/proc/self/fd/1
echo appended | tee -a log >/dev/null; echo again >>log; cat log
sh -c 'echo to-file >/dev/stdout' >redirected; cat redirected
sh -c 'echo more >>/dev/stdout' >>redirected; cat redirected
cat /dev/stdin <redirected
say cat /dev/fd/63
say script -qec 'echo in script; test -t 1; echo $?' /dev/null
say script -qc 'stty size; exit 4' -e typescript
echo 'int' | xargs -I{} -P2 sh -c 'echo {}'
seq 1 40 | xargs -P4 -n1 sh -c 'echo "$1" >"x-$1"' sh; ls x-* | wc -l
say env -i /bin/sh -c 'echo clean'
say nice -n 5 nice
say setsid -w sh -c 'echo session'
say stdbuf -oL echo buffered
say mktemp -u -p . tmp.XXXX >/dev/null
f=$(mktemp) && echo t >"$f" && cat "$f" && rm "$f"
d=$(mktemp -d) && touch "$d/x" && stat -c %a "$d" && rm -r "$d"
say sh -c 'cd missing'
say ./missing
: >plain; say ./plain
printf '#!/missing/interpreter\n' >bad; chmod +x bad; say ./bad
printf 'echo no shebang\n' >noshebang; chmod +x noshebang; say ./noshebang
say bash -c 'exit 300'
say bash -c 'kill -ABRT $$'
yes | head -n 3; echo "${PIPESTATUS[*]}"
say bash -c 'ulimit -f 1; head -c 100000 /dev/zero >limited'
stat -c %s limited
say bash -c 'ulimit -n 20; exec 3</dev/null; ls -d /'
say date -u -d @0 +%F
say whoami
say id -u
say hostname
say uname -s
say getconf PAGESIZE
say test -w .
say nproc
echo '1 2 3' | { read -r a b c; echo "$c"; }
printf 'a\0b\0' | xargs -0 -n1
say python3 -c 'import os; print(os.getpriority(0, 0))'
pgrep -c -P $$ nothing
say sh -c 'echo $PPID | grep -c .'
ps -o comm= -p $$
kill -0 $$; echo "=> $?"
kill -0 99999; echo "=> $?"
echo done
