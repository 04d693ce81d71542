#!/usr/bin/env -S -u NODE_OPTIONS -u NODE_PATH -u NODE_EXTRA_CA_CERTS ASSAY_NODE_OPTIONS=${NODE_OPTIONS} ASSAY_NODE_PATH=${NODE_PATH} ASSAY_NODE_EXTRA_CA_CERTS=${NODE_EXTRA_CA_CERTS} node
// Loads the parts of the program with what the engine compiled them to, where scripts/set-up.mjs has kept that. The first
// line drops the variables that steer node, so that nothing of the environment runs before assay does; they are kept
// under other names, for programs that are allowed to see them.
'use strict';
const { readFileSync, statSync } = require('node:fs');
const { Script } = require('node:vm');

const root = __dirname.slice(0, __dirname.lastIndexOf('/'));
const dist = `${root}/dist`;
const scripts = new Map();
const parts = new Map();

function readIfThere(path, encoding) {
  try {
    return readFileSync(path, encoding);
  } catch {
    return undefined; // not made, or not ours to read: the start takes longer
  }
}

/** Where the code is kept: beside the program or, where that is somebody else's, in a folder that only this user writes. */
function findCode() {
  const name = `code-${process.version}`;
  if (statSync(`${dist}/${name}`, { throwIfNoEntry: false })) return `${dist}/${name}`;
  const { XDG_CACHE_HOME: cache, HOME: home } = process.env;
  const id = readIfThere(`${dist}/build-id`, 'latin1');
  const own = `${cache?.startsWith('/') ? cache : `${home}/.cache`}/assay/built-${id}`;
  const found = id && statSync(own, { throwIfNoEntry: false });
  const isOurs = found && found.uid === process.getuid() && (found.mode & 0o022) === 0;
  return isOurs ? `${own}/${name}` : undefined;
}

/** A part of the program by its file's name. */
function load(name, code) {
  const known = parts.get(name);
  if (known) return known.exports;
  const module = { exports: {} };
  parts.set(name, module);
  const folder = name === 'assay.cjs' ? dist : `${dist}/chunks`;
  const filename = `${folder}/${name}`;
  const cachedData = code && readIfThere(`${code}/${name}`);
  const text = readFileSync(filename, 'latin1'); // it is ASCII
  const script = new Script(
    `(function (exports, require, module, __filename, __dirname) {${text}\n})`,
    { filename, cachedData },
  );
  scripts.set(name, script);
  const requirePart = (id) =>
    id.startsWith('.') ? load(id.slice(id.lastIndexOf('/') + 1), code) : require(id);
  script
    .runInThisContext()
    .call(module.exports, module.exports, requirePart, module, filename, folder);
  return module.exports;
}

function start(code) {
  load('assay.cjs', code);
}

if (require.main === module) start(findCode());
else module.exports = { start, scripts };
