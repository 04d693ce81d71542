// How much memory assay itself takes at its peak: the node process, and the helper's processes.
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { quietEnvironment } from './measure.mjs';

function readStatus(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/status`, 'utf8');
    const read = (name) => new RegExp(`^${name}:\\s*(\\S+)`, 'm').exec(text)?.[1];
    return {
      name: read('Name'),
      parent: Number(read('PPid')),
      peakMib: Number(read('VmHWM') ?? 0) / 1024,
    };
  } catch {
    return null; // It has ended.
  }
}

/** Processes of the helper below `pid`; what they run is not looked into. */
function listHelpers(pid) {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const found = new Map();
  const isHelper = ({ name }) => name.startsWith('assay-helper');
  for (const id of all) {
    const status = readStatus(id);
    if (status && isHelper(status)) found.set(Number(id), status);
  }
  const isBelow = ({ parent }) =>
    parent === pid || (found.has(parent) && isBelow(found.get(parent)));
  return [...found].filter(([, status]) => isBelow(status));
}

/** Runs it once. The sum of the peaks is at least the peak of the sum. */
export async function measurePeak(argv, cwd) {
  const child = spawn(argv[0], argv.slice(1), { cwd, stdio: 'ignore', env: quietEnvironment() });
  let nodeMib = 0;
  const helpers = new Map();
  const timer = setInterval(() => {
    const node = readStatus(child.pid);
    nodeMib = Math.max(nodeMib, node?.peakMib ?? 0);
    for (const [pid, { peakMib }] of listHelpers(child.pid))
      helpers.set(pid, Math.max(helpers.get(pid) ?? 0, peakMib));
  }, 20);
  const code = await new Promise((resolve) => {
    child.on('close', resolve);
  });
  clearInterval(timer);
  if (code !== 0) throw new Error(`${argv.join(' ')} ended with ${code}`);
  const helperMib = [...helpers.values()].reduce((sum, mib) => sum + mib, 0);
  return { nodeMib, helperMib, mib: nodeMib + helperMib };
}
