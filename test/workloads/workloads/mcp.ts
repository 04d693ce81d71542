import { type Workload, writeTree } from '../workload.ts';

/** Newline-delimited JSON-RPC on standard input and output, as the Model Context Protocol has it. */
const SERVER = `import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
const TOOLS = [
  { name: 'write_note', description: 'Write a note', inputSchema: { type: 'object', properties: { title: { type: 'string' }, text: { type: 'string' } }, required: ['title', 'text'] } },
  { name: 'read_file', description: 'Read a file', inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] } },
];
const CALLS = {
  write_note({ title, text }) {
    mkdirSync('notes', { recursive: true });
    writeFileSync('notes/' + title + '.md', text);
    return 'written';
  },
  read_file: ({ path }) => readFileSync(path, 'utf8'),
};
function answer({ method, params }) {
  if (method === 'initialize')
    return { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'notes', version: '1.0.0' } };
  if (method === 'tools/list') return { tools: TOOLS };
  if (method !== 'tools/call') throw new Error('No such method');
  try {
    return { content: [{ type: 'text', text: CALLS[params.name](params.arguments) }] };
  } catch (error) {
    return { content: [{ type: 'text', text: error.code }], isError: true };
  }
}
for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.id === undefined) continue;
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id: message.id, result: answer(message) }) + '\\n');
}
`;

const CLIENT = `import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
const server = spawn(process.execPath, ['server.mjs'], { stdio: ['pipe', 'pipe', 'inherit'] });
const answers = createInterface({ input: server.stdout })[Symbol.asyncIterator]();
let id = 0;
const send = (message) => server.stdin.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
async function request(method, params) {
  send({ id: ++id, method, params });
  const { value } = await answers.next();
  return JSON.parse(value).result;
}
const call = async (name, args) => (await request('tools/call', { name, arguments: args })).content[0].text;
const hello = await request('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'client', version: '1.0.0' } });
send({ method: 'notifications/initialized' });
console.log(hello.serverInfo.name, (await request('tools/list', {})).tools.length);
console.log(await call('write_note', { title: 'first', text: 'a note' }));
console.log(await call('write_note', { title: 'second', text: 'another' }));
console.log(await call('read_file', { path: 'notes/first.md' }));
console.log(await call('read_file', { path: 'notes/absent.md' }));
server.stdin.end();
await new Promise((resolve) => server.on('close', resolve));
`;

export const mcpWorkload: Workload = {
  name: 'a session with an MCP server',
  tools: ['node'],
  command: ['node', 'client.mjs'],
  prepare(dir) {
    writeTree(dir, { 'server.mjs': SERVER, 'client.mjs': CLIENT });
  },
};
