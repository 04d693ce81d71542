import { declareWorkloads } from './declare.ts';

declareWorkloads('python', [
  {
    name: 'files and processes',
    files: ['battery.py'],
    command: ['python3', 'battery.py', 'files'],
    tools: ['python3'],
    volatileFiles: /__pycache__\/battery/,
  },
  {
    name: 'signals and sockets',
    files: ['battery.py'],
    // A call that a signal fails to interrupt would hang.
    command: ['timeout', '-s', 'KILL', '15', 'python3', 'battery.py', 'signals'],
    tools: ['python3', 'timeout'],
  },
]);
