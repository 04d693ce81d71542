import { declareWorkloads } from './declare.ts';

declareWorkloads('npm', [
  {
    name: 'packing, installing and running scripts',
    files: ['npm.sh'],
    command: ['/bin/bash', 'npm.sh'],
    tools: ['npm', 'node'],
    volatileText: [
      [/in \d+(\.\d+)?m?s/g, 'in TIME'],
      [/\d{4}-\d\d-\d\dT[\d_]+Z-debug-\d+/g, 'LOG'],
      [/duration_ms(:?) [\d.]+/g, 'duration_ms$1 TIME'],
    ],
    // tar stores the time in the packed files.
    volatileFiles: /lib-1\.2\.3\.tgz$|package-lock\.json$/,
  },
]);
