import { all, ends, hostileMs, isBitten, isContained, timesOut } from '../expectations.ts';
import type { Row } from '../row.ts';
import { isStill } from './timeouts.ts';
import { bomb, ENDING, MIB } from './bomb.ts';
import { DISK_PROGRAMS } from './hostile-files.ts';

const FORKING: Row[] = [
  bomb({
    name: 'fork bomb',
    needs: ['processes', 'limit:pids'],
    spec: { limits: { pids: 40 } },
    code: `import os
while True:
    try: os.fork()
    except OSError: pass
`,
    check: all(ends('timeout', 'limit'), isBitten('pids')),
  }),
  bomb({
    name: 'fork bomb in bash',
    language: 'bash',
    needs: ['processes', 'limit:pids'],
    spec: { limits: { pids: 40 } },
    code: `bomb() { bomb | bomb & }
bomb
sleep 100
`,
    check: ends('timeout', 'limit', 'exited'),
  }),
  bomb({
    name: 'fork chain that is never twice the same process',
    needs: ['processes', 'files'],
    options: ENDING,
    code: `import os
open('/workspace/beat', 'wb').close()
while True:
    if os.fork(): os._exit(0)
    with open('/workspace/beat', 'ab') as file: file.write(b'x')
`,
    check: all(ends('exited'), isStill),
  }),
  bomb({
    name: 'zombie maker',
    needs: ['processes', 'limit:pids'],
    spec: { limits: { pids: 40 } },
    code: `import os
while True:
    try:
        if os.fork() == 0: os._exit(0)
    except OSError: pass
`,
    check: ends('timeout', 'limit'),
  }),
  bomb({
    name: 'thread bomb',
    needs: ['threads', 'limit:pids'],
    spec: { limits: { pids: 40 } },
    code: `import threading, time
while True:
    try: threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
    except RuntimeError: time.sleep(0.01)
`,
    check: ends('timeout', 'limit'),
  }),
  bomb({
    name: 'exec loop',
    needs: ['processes'],
    code: `import os, sys
os.execv(sys.executable, [sys.executable, *sys.argv])
`,
    check: timesOut(hostileMs),
  }),
];

const MEMORY: Row[] = [
  bomb({
    name: 'memory bomb',
    needs: ['limit:memoryBytes'],
    spec: { limits: { memoryBytes: 96 * MIB } },
    options: ENDING,
    code: `blocks = []
for _ in range(64): blocks.append(bytearray(b'x') * (8 * 1024 * 1024))
print('ESCAPED')
`,
    check: isBitten('memoryBytes'),
  }),
  bomb({
    name: 'memory bomb in JavaScript',
    language: 'javascript',
    needs: ['limit:memoryBytes'],
    spec: { limits: { memoryBytes: 192 * MIB } },
    options: ENDING,
    code: `const blocks = [];
for (let index = 0; index < 128; index++) blocks.push(new Uint8Array(8 * 1024 * 1024).fill(1));
console.log('ESCAPED');
`,
    check: isBitten('memoryBytes'),
  }),
  bomb({
    name: 'memory in files without a name',
    needs: ['syscalls', 'limit:memoryBytes'],
    spec: { limits: { memoryBytes: 96 * MIB } },
    options: ENDING,
    code: `import os
files = []
for index in range(64):
    files.append(os.memfd_create('x'))
    os.write(files[-1], b'x' * (8 * 1024 * 1024))
import time; time.sleep(2)
print('ESCAPED')
`,
    check: ends('limit', 'signaled', 'exited', 'timeout'),
  }),
  bomb({
    name: 'memory in shared memory',
    needs: ['files', 'shared kernel', 'limit:memoryBytes'],
    spec: { limits: { memoryBytes: 96 * MIB } },
    options: ENDING,
    code: `import os
for index in range(64):
    try:
        with open('/dev/shm/%d' % index, 'wb') as file: file.write(b'x' * (8 * 1024 * 1024))
    except OSError as problem:
        print('HELD', problem.errno)
        break
else:
    import time; time.sleep(2)
    print('ESCAPED')
`,
    check: isContained,
  }),
  bomb({
    name: 'memory that is only asked for',
    needs: ['syscalls'],
    options: ENDING,
    code: `import mmap
held = []
try:
    for _ in range(200): held.append(mmap.mmap(-1, 1 << 34))
except OSError as problem:
    print('HELD', problem.errno)
print(len(held))
`,
    check: ends('exited', 'limit', 'signaled'),
  }),
];

const TIME: Row[] = [
  bomb({
    name: 'endless loop',
    code: `while True: pass\n`,
    check: timesOut(hostileMs),
  }),
  bomb({
    name: 'endless loop that catches everything',
    code: `while True:
    try:
        while True: pass
    except BaseException: pass
`,
    check: timesOut(hostileMs),
  }),
  bomb({
    name: 'endless sleep',
    code: `import time
while True: time.sleep(1000)
`,
    check: timesOut(hostileMs),
  }),
  bomb({
    name: 'sleep that is deaf to every signal',
    needs: ['signals'],
    code: `import signal, time
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
while True: time.sleep(1000)
`,
    check: timesOut(hostileMs),
  }),
  bomb({
    name: 'program that stops itself',
    needs: ['signals'],
    code: `import os, signal
while True: os.kill(os.getpid(), signal.SIGSTOP)
`,
    check: timesOut(hostileMs),
  }),
  bomb({
    name: 'program that kills everything it can',
    needs: ['signals', 'processes'],
    options: ENDING,
    code: `import os, signal
for number in (signal.SIGTERM, signal.SIGKILL):
    for pid in [-1, 0, 1, *range(2, 300)]:
        if pid == os.getpid(): continue
        try: os.kill(pid, number)
        except OSError: pass
print('still here')
`,
    check: ends('exited', 'signaled', 'aborted'),
  }),
  bomb({
    name: 'program that closes its streams and goes on',
    needs: ['files'],
    code: `import os, time
for number in (0, 1, 2): os.close(number)
while True: time.sleep(1)
`,
    check: timesOut(hostileMs),
  }),
  bomb({
    name: 'output flood',
    spec: { limits: { outputBytes: 65_536 } },
    code: `import os
while True: os.write(1, b'flood' * 10000)
`,
    check: all(timesOut(hostileMs), isBitten('outputBytes')),
  }),
  bomb({
    name: 'error flood in JavaScript',
    language: 'javascript',
    spec: { limits: { outputBytes: 65_536 } },
    code: `for (;;) console.error('flood'.repeat(10_000));\n`,
    // Node keeps what a busy loop prints, so it may run out of memory or time before the output is full.
    check: ends('timeout', 'limit', 'signaled', 'exited'),
  }),
  bomb({
    name: 'background process that holds the output open',
    needs: ['processes'],
    options: ENDING,
    code: ({ token }) => `import os, sys
if os.fork() == 0:
    os.setsid()
    os.execv(sys.executable, [sys.executable, '-c', 'import time; time.sleep(1000)', '${token}'])
print('done')
`,
    check: ends('exited'),
  }),
];

export const RESOURCE_PROGRAMS: Row[] = [...FORKING, ...MEMORY, ...DISK_PROGRAMS, ...TIME];
