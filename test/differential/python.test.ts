import { declareWorkloads } from './declare.ts';

declareWorkloads('python', [
  {
    name: 'files, processes, signals and sockets',
    files: ['battery.py'],
    command: ['python3', 'battery.py'],
    tools: ['python3'],
    volatileText: [[/mp-\w{8}/g, 'mp-X']],
    volatileFiles: /__pycache__\/battery/,
  },
]);
