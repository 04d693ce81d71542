// The npm package @anthropic-ai/sandbox-runtime, installed outside of this project when the benchmark asks for it.
import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { quietEnvironment } from './measure.mjs';

const VERSION = '0.0.78';

function run(command, args, options = {}) {
  return spawnSync(command, args, { encoding: 'utf8', env: quietEnvironment(), ...options });
}

/** The words that run a command under it, or why it cannot be had. */
export function installSandboxRuntime(prefix) {
  for (const name of ['bwrap', 'socat', 'rg'])
    if (run(name, ['--version']).error && run(name, ['-V']).error)
      return { problem: `${name} is not installed` };
  const cli = join(prefix, 'node_modules/@anthropic-ai/sandbox-runtime/dist/cli.js');
  const npm = [
    'install',
    '--prefix',
    prefix,
    '--no-save',
    '--no-audit',
    '--no-fund',
    '--ignore-scripts',
    '--engine-strict=false',
  ];
  const installed = run('npm', [...npm, `@anthropic-ai/sandbox-runtime@${VERSION}`], {
    env: process.env,
  });
  if (!existsSync(cli))
    return { problem: `npm install failed: ${installed.stderr.trim().split('\n').at(-1)}` };
  const settings = join(prefix, 'settings.json');
  writeFileSync(
    settings,
    JSON.stringify({
      network: { allowedDomains: [], deniedDomains: [] },
      filesystem: { denyRead: [], allowWrite: ['.'], denyWrite: [] },
    }),
  );
  const argv = [process.execPath, cli, '--settings', settings, 'true'];
  const tried = run(argv[0], argv.slice(1), { cwd: prefix });
  if (tried.status !== 0)
    return {
      problem: `it does not run here: ${(tried.stderr || tried.stdout).trim().split('\n')[0]}`,
    };
  return { argv, cwd: prefix, version: VERSION };
}
