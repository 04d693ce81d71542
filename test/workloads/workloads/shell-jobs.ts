import { type Workload, writeTree } from '../workload.ts';

/** Jobs side by side, pipes with and without a name, descriptors instead of files, temporary names of several kinds. */
const SCRIPT = `set -e
dir=$(mktemp -d); other=$(mktemp -d -t build.XXXXXXXX); trap 'rm -rf "$dir" "$other"' EXIT
job() { f="$dir/job.$BASHPID"; echo "$1" > "$f"; mkdir -p out/all; mv "$f" "out/job-$1.txt"; }
for i in 1 2 3 4 5 6; do job $i & done; wait
mkfifo "$other/pipe"; cat "$other/pipe" > out/from-pipe.txt & echo hello > "$other/pipe"; wait
diff <(sort out/job-1.txt) <(sort out/job-2.txt) > out/diff.txt || true
(flock 9; echo locked > out/locked.txt) 9> "$dir/lock"
tar czf out.tgz out; tar xzf out.tgz -C "$other"; cp -r "$other/out" copy
printf '%s\\n' a b c d | xargs -P 4 -I{} sh -c 'echo {} > out/x-{}.txt'
exec 5<<< "here"; cat <&5 > here.txt
script=$(mktemp --suffix=.sh); echo 'echo ran' > "$script"; sh "$script"; rm "$script"
`;

export const shellJobsWorkload: Workload = {
  name: 'a shell script with jobs side by side',
  tools: ['bash', 'mktemp', 'mkfifo', 'flock', 'tar', 'gzip', 'xargs', 'diff'],
  command: ['/bin/bash', 'work.sh'],
  prepare: (dir) => writeTree(dir, { 'work.sh': SCRIPT }),
};
