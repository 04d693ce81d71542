import { declareWorkloads } from './declare.ts';

const CALLS = {
  files: ['errno.c'],
  command: ['/bin/sh', '-c', 'gcc -w -O1 -o errno errno.c && ./errno'],
  tools: ['gcc'],
};

declareWorkloads('error codes', [
  { ...CALLS, name: 'calls with right and wrong arguments' },
  { ...CALLS, name: 'calls with right and wrong arguments, recorded', isRecorded: true },
]);
