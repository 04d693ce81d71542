import { declareWorkloads } from './declare.ts';

declareWorkloads('node', [
  {
    name: 'files, processes, workers and sockets',
    files: ['battery.mjs'],
    command: ['node', 'battery.mjs'],
    tools: ['node'],
  },
]);
