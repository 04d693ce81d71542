import { declareWorkloads } from './declare.ts';

declareWorkloads('error codes', [
  {
    name: 'calls with right and wrong arguments',
    files: ['errno.c'],
    command: ['/bin/sh', '-c', 'gcc -w -O1 -o errno errno.c && ./errno'],
    tools: ['gcc'],
  },
]);
