import { declareWorkloads } from './declare.ts';

declareWorkloads('gcc and make', [
  {
    name: 'a project of thirty files',
    files: ['build.sh'],
    command: ['/bin/bash', 'build.sh'],
    tools: ['gcc', 'g++', 'make', 'ar', 'strip'],
    volatileText: [
      [/0x[0-9a-f]{8,}/g, 'ADDRESS'],
      [/\/cc\w{6}\./g, '/ccXXXXXX.'],
    ],
  },
]);
