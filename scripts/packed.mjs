// How the parts of dist are stored, and loaded: with what the engine made of them.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import Module from 'node:module';
import { join } from 'node:path';

/** Before what the engine made of a part, which it wants at an even address. */
const HEAD_BYTES = 16;

/**
 * Loads what is in dist with what the engine made of it at build time, since compiling takes longer than running. `after`
 * is more program text, for the build itself.
 */
export function makeLoader(directory, after = '') {
  return `'use strict';
const { readFileSync } = require('node:fs');
const { Script } = require('node:vm');
const Module = module.constructor; // node:module, which is quick to have but slow to ask for
const directory = ${directory};
const scripts = new Map();
function load(module, filename, job = '') {
  const bytes = readFileSync(filename + job + '.packed');
  const { buffer, byteOffset } = bytes;
  const size = bytes[0] | (bytes[1] << 8) | (bytes[2] << 16);
  const cachedData = size ? new Uint8Array(buffer, byteOffset + ${HEAD_BYTES}, size) : undefined;
  const script = new Script(bytes.latin1Slice(${HEAD_BYTES} + size), { filename, cachedData });
  scripts.set(filename, script);
  const { exports } = module;
  const folder = filename.slice(0, filename.lastIndexOf('/'));
  const require = (id) => module.require(id);
  script.runInThisContext().call(exports, exports, require, module, filename, folder);
}
Module._extensions['.cjs'] = load; // for the parts that are loaded when they are asked for
const core = new Module(directory + '/assay.cjs', module);
core.filename = core.id;
Module._cache[core.id] = core;
// With a policy, a run goes through more of it. A word that only looks like the flag costs time, and nothing else.
load(core, core.id, process.argv.some((word) => word.startsWith('--policy')) ? '.policy' : '.plain');
${after}`;
}

/** V8 keeps a text of this size apart from what it collects; a shorter one is a tenth of what fits in before it does. */
const LARGE_TEXT = 136 * 1024;

export function toAscii(source) {
  return source.replace(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** The part itself, and for `job` what is packed of it. */
function listParts(dist) {
  const core = join(dist, 'assay.cjs');
  const chunks = readdirSync(join(dist, 'chunks'))
    .filter((name) => name.endsWith('.cjs'))
    .map((name) => ({ file: join(dist, 'chunks', name), job: '' }));
  return [{ file: core, job: '.plain' }, { file: core, job: '.policy' }, ...chunks];
}

/**
 * What the loader reads of each part, at once: what the engine made of it, behind its size, and the one function that the
 * loader calls, in ASCII. So nothing need be decoded or put together, and what is not allocated is not collected before
 * the program has started.
 */
function writePacked(dist) {
  for (const { file, job } of listParts(dist)) {
    const cache = `${file}${job}.cache`;
    const code = existsSync(cache) ? readFileSync(cache) : Buffer.alloc(0);
    const head = Buffer.alloc(HEAD_BYTES);
    head.writeUInt32LE(code.length);
    const source = Module.wrap(toAscii(readFileSync(file, 'utf8')));
    const text = Buffer.from(source.padEnd(job ? LARGE_TEXT : 0), 'latin1');
    writeFileSync(`${file}${job}.packed`, Buffer.concat([head, code, text]));
  }
}

/**
 * Packs every part. Runs the main job without a policy file, with one, and with doors to the network for long enough that
 * somebody serves them, and keeps the compiled code of what each used: a run starts with that of those before it, and adds
 * its own.
 */
export function packParts(dist) {
  const policy = join(dist, 'example.yaml');
  writeFileSync(policy, EXAMPLE_POLICY);
  const doors = join(dist, 'doors.json');
  writeFileSync(doors, '{"api_version":"assay/v1","net":{"allow":["example.org"]}}');
  for (const { job, flags, command } of [
    { job: '.plain', flags: [], command: ['true'] },
    { job: '.policy', flags: ['--policy', policy], command: ['true'] },
    { job: '.policy', flags: ['--policy', doors], command: ['sleep', '0.3'] },
  ]) {
    const save = `const { reallyExit } = process;
process.reallyExit = (code) => {
  const { writeFileSync } = require('node:fs');
  for (const [filename, script] of scripts) {
    const cache = filename + (filename === core.id ? '${job}' : '') + '.cache';
    writeFileSync(cache, script.createCachedData());
  }
  reallyExit.call(process, code);
};`;
    const args = JSON.stringify(['assay', 'sandbox', ...flags, '--', ...command]);
    const program = `process.argv.splice(1, 9, ...${args});${makeLoader(JSON.stringify(dist), save)}`;
    const env = { ...process.env, NODE_OPTIONS: '' };
    writePacked(dist);
    spawnSync(process.execPath, ['-e', program], { env, stdio: 'ignore', timeout: 30_000 });
  }
  writePacked(dist);
  for (const { file, job } of listParts(dist)) rmSync(`${file}${job}.cache`, { force: true });
  rmSync(policy);
  rmSync(doors);
}

const EXAMPLE_POLICY = `api_version: assay/v1
extends: [coding-agent]
fs:
  read: ["~/.gitconfig", /srv]
  write:
    - \${CWD}/build
  deny: ["*.pem", ~/.ssh]
  protect: [package.json]
net:
  allow: [localhost]
env:
  allow: [CI]
limits: { pids: 2000, timeout: 1h }
tests:
  - allow: fs.write \${CWD}/build/x
  - deny: fs.read ~/.ssh/id_rsa
  - deny: net.connect example.org
`;
