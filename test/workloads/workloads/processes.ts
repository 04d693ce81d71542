import { type Workload, writeTree } from '../workload.ts';

/** A thousand processes, of which many write to a file whose name only their own number makes. */
const SCRIPT = `#!/bin/bash
set -e
for i in {1..500}; do /bin/true; done
for i in {1..200}; do /usr/bin/basename /a/b >/dev/null; done
for i in {1..200}; do sh step.sh $i; done
for i in {1..20}; do (sleep 0.01; echo $i > "shared/job-$i") & done
wait
for i in {1..20}; do sort -n -o sorted.txt numbers.txt; sed -i s/7/8/ edited.txt; done
file=$(mktemp); echo x > "$file"; cp "$file" kept.txt; rm "$file"
dir=$(mktemp -d work-XXXXXX); echo x > "$dir/inner"; rm -r "$dir"
echo $$ > "run-$$.pid"; mv "run-$$.pid" last.pid
date +%s > "stamp-$(date +%Y%m%d-%H%M%S).log"
exit 3
`;

export const processesWorkload: Workload = {
  name: 'a shell script with a thousand processes',
  tools: ['bash', 'sort', 'sed', 'mktemp'],
  command: ['./work.sh'],
  exitCode: 3,
  prepare(dir) {
    writeTree(dir, {
      'work.sh': SCRIPT,
      'step.sh': `echo "$1" > "part.$$"; if [ "$1" = 7 ]; then mv "part.$$" part; else rm "part.$$"; fi\n`,
      'numbers.txt': '3\n1\n2\n'.repeat(50),
      'edited.txt': '7777777\n',
      'shared/.keep': '',
    });
  },
};
