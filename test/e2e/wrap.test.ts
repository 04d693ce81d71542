import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, it } from 'vitest';
import { describeForEachPerson } from './as-user.ts';
import { Place } from './place.ts';
import { ASSAY, makeEnv, runBare } from './run-assay.ts';

const MODULES = join(import.meta.dirname, '../../node_modules');

interface Configuration {
  mcpServers: { files: { command: string; args: string[] } };
}

/** Starts what the configuration says, as a client does. */
async function connect(place: Place, file: string): Promise<Client> {
  const { command, args } = (JSON.parse(fs.readFileSync(file, 'utf8')) as Configuration).mcpServers
    .files;
  const [program = '', ...words] = [...place.person.prefix, command, ...args];
  const client = new Client({ name: 'test', version: '0' });
  await client.connect(
    new StdioClientTransport({
      command: program,
      args: words,
      env: makeEnv(place) as Record<string, string>,
      cwd: place.work,
      stderr: 'ignore',
    }),
  );
  return client;
}

async function readFile(client: Client, path: string): Promise<string> {
  const result = await client.callTool({ name: 'read_text_file', arguments: { path } });
  return JSON.stringify(result.content);
}

describeForEachPerson('a real MCP server', (person) => {
  it('works for a stock client once it is wrapped, and reads nothing that it may not', async () => {
    using place = new Place(person, tmpdir());
    const workspaceFile = place.write('work/notes.txt', 'from the workspace');
    const secret = place.write('home/.ssh/id_ed25519', 'SECRET-KEY');
    const text = `{
  "mcpServers": { "files": { "command": ${JSON.stringify(process.execPath)}, "args": [
    ${JSON.stringify(join(MODULES, '@modelcontextprotocol/server-filesystem/dist/index.js'))},
    ${JSON.stringify(place.base)}
  ] } }
}
`;
    const file = place.write('work/.mcp.json', text);

    const bare = await connect(place, file);
    expect(await readFile(bare, secret)).toContain('SECRET-KEY');
    await bare.close();

    const wrapped = await runBare({
      place,
      command: [ASSAY, 'wrap', '--yes', '--allow-read', MODULES],
    });
    expect(wrapped).toMatchObject({ code: 0, stderr: '' });
    const client = await connect(place, file);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('read_text_file');
    expect(await readFile(client, workspaceFile)).toContain('from the workspace');
    expect(await readFile(client, secret)).not.toContain('SECRET-KEY');
    await client.close();

    const undone = await runBare({ place, command: [ASSAY, 'wrap', '--undo', '--yes'] });
    expect(undone.code).toBe(0);
    expect(fs.readFileSync(file, 'utf8')).toBe(text);
  });
});
