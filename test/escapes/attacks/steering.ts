import * as fs from 'node:fs';

import type { Attack } from '../attack.ts';
import type { Fixture } from '../fixture.ts';
import { pwned } from '../marks.ts';

interface Row extends Partial<Attack> {
  readonly id: string;
  readonly title: string;
}

/** The workspace, or the environment it talked the user into, tries to make assay itself run something outside. */
function steer(row: Row): Attack {
  return { class: 'steering', control: ['start-up'], script: 'true', isSuccess: pwned, ...row };
}

const touchPwned = (fixture: Fixture) =>
  `require('node:fs').writeFileSync(${JSON.stringify(fixture.at('pwned'))}, '');\n`;

/** Programs that a sandbox might call by name. */
const COMMANDS = [
  'sh',
  'git',
  'id',
  'uname',
  'mount',
  'unshare',
  'newuidmap',
  'newgidmap',
  'ip',
  'cc',
  'bwrap',
  'assay-helper',
];

function plantCommands(directory: string): (fixture: Fixture) => void {
  return (fixture) => {
    for (const name of COMMANDS) {
      fixture.write(`work/${directory}/${name}`, `#!/bin/sh\n: > ${fixture.at('pwned')}\n`);
      fs.chmodSync(fixture.at(`work/${directory}/${name}`), 0o755);
    }
  };
}

function plantModules(fixture: Fixture): void {
  for (const name of ['yaml', 'picomatch', 'assay']) {
    fixture.write(
      `work/node_modules/${name}/package.json`,
      JSON.stringify({ name, main: 'index.cjs' }),
    );
    fixture.write(`work/node_modules/${name}/index.cjs`, touchPwned(fixture));
  }
  plantCommands('node_modules/.bin')(fixture);
}

export const STEERING_ATTACKS: readonly Attack[] = [
  steer({
    id: 'steer-node-options',
    title: 'NODE_OPTIONS loads a file of the workspace into assay',
    prepare: (fixture) => fixture.write('work/evil.cjs', touchPwned(fixture)),
    env: (fixture) => ({ NODE_OPTIONS: `--require ${fixture.at('work/evil.cjs')}` }),
    bareScript: 'node -e 0',
  }),
  steer({
    id: 'steer-node-path',
    title: 'NODE_PATH and node_modules of the workspace replace a module of assay',
    prepare: plantModules,
    env: (fixture) => ({ NODE_PATH: fixture.at('work/node_modules') }),
    bareScript: `node -e 'require("yaml")'`,
  }),
  steer({
    id: 'steer-bin',
    title: 'node_modules/.bin replaces a program that assay calls',
    prepare: plantModules,
    env: (fixture) => ({ PATH: `${fixture.at('work/node_modules/.bin')}:${processPath()}` }),
    bareScript: 'git --version',
  }),
  steer({
    id: 'steer-path',
    title: 'a relative PATH entry replaces a program that assay calls',
    prepare: plantCommands('bin'),
    env: () => ({ PATH: `bin:${processPath()}` }),
    bareScript: 'git --version',
  }),
  steer({
    id: 'steer-git-config',
    title: 'the configuration of the repository runs a program when assay looks at it',
    flags: () => ['--preset', 'coding-agent'],
    prepare: (fixture) => {
      fixture.git(['init', '-q', '--template=']);
      fixture.git(['config', 'core.fsmonitor', `touch ${fixture.at('pwned')}; false`]);
    },
    bareScript: 'git status > /dev/null',
  }),
];

/** node itself has to be found: what starts assay is not assay's to decide. */
function processPath(): string {
  return `${process.execPath.slice(0, process.execPath.lastIndexOf('/'))}:/usr/bin:/bin`;
}
