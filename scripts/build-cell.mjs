// Builds what runs the engines of the wasm backend, a program of its own, into dist/.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const folder = join(root, 'src/backends/wasm');

/** The program that is started, and the text that JavaScript finds inside. */
export async function writeCell(dist) {
  const { build } = await import('rolldown');
  await build({
    cwd: root,
    input: join(folder, 'cell/main.ts'),
    platform: 'node',
    logLevel: 'warn',
    output: { file: join(dist, 'wasm-cell.cjs'), format: 'cjs', minify: true },
  });
  const guest = join(dist, 'wasm-guest.js');
  await build({
    cwd: root,
    input: join(folder, 'guest/main.ts'),
    platform: 'neutral',
    logLevel: 'warn',
    output: { file: guest, format: 'iife', name: 'assayGuest', minify: true },
  });
  const code = readFileSync(guest, 'utf8');
  if (/\brequire\(|\bimport\b/.test(code))
    throw new Error('The guest of the wasm backend needs what is not inside');
  writeFileSync(guest, `(() => {${code}\nreturn assayGuest.library; })()`);
}
