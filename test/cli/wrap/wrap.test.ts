import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { run } from '../../../src/cli/commands/wrap.ts';
import { AssayError } from '../../../src/core/errors.ts';
import { capture, type Captured } from '../capture.ts';

let home: string;
let work: string;

beforeEach(() => {
  const base = fs.mkdtempSync(join(tmpdir(), 'assay-wrap-'));
  home = join(base, 'home');
  work = join(base, 'work');
  for (const path of [home, work]) fs.mkdirSync(path);
  vi.stubEnv('HOME', home);
  for (const name of ['XDG_STATE_HOME', 'XDG_CONFIG_HOME', 'CODEX_HOME'])
    vi.stubEnv(name, undefined);
  vi.spyOn(process, 'cwd').mockReturnValue(work);
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  fs.rmSync(join(home, '..'), { recursive: true });
});

const MCP_JSON = `{
  "mcpServers": {
    // local
    "files": { "command": "node", "args": ["files.js"], "env": { "TOKEN": "secret" } },
    "remote": { "url": "https://example.com/mcp" }
  }
}
`;

const CODEX = `model = "o5" # keep

[mcp_servers.files] # mine
command = "node" # here
`;

function write(path: string, text: string, mode = 0o644): string {
  fs.mkdirSync(join(path, '..'), { recursive: true });
  fs.writeFileSync(path, text);
  fs.chmodSync(path, mode);
  return path;
}

const read = (path: string): string => fs.readFileSync(path, 'utf8');
const wrap = (flags: Record<string, string>, ...names: string[]): Promise<Captured> =>
  capture(run, flags, names);

describe('assay wrap', () => {
  it('changes nothing when it only shows what it would', async () => {
    const file = write(join(work, '.mcp.json'), MCP_JSON);
    const { code, stdout } = await wrap({ 'dry-run': '' });
    expect(code).toBe(0);
    expect(stdout).toContain(`--- ${file}`);
    expect(stdout).toMatch(/^-.*"command": "node"/m);
    expect(stdout).toMatch(/^\+.*"sandbox", "--quiet", "--env-allow", "TOKEN", "--", "node"/m);
    expect(stdout).toContain('remote: left as it is: it is remote (https://example.com/mcp)');
    expect(read(file)).toBe(MCP_JSON);
    expect(fs.existsSync(join(home, '.local'))).toBe(false);
  });

  it('wraps every client that is found, and undoes all of it byte by byte', async () => {
    const files = [
      write(join(work, '.mcp.json'), MCP_JSON),
      write(join(home, '.claude.json'), MCP_JSON.replace('// local', ''), 0o600),
      write(join(home, '.config/Claude/claude_desktop_config.json'), MCP_JSON, 0o640),
      write(join(work, '.cursor/mcp.json'), MCP_JSON),
      write(join(work, '.vscode/mcp.json'), MCP_JSON.replace('mcpServers', 'servers')),
      write(join(home, '.codex/config.toml'), CODEX, 0o600),
      write(join(home, '.gemini/settings.json'), MCP_JSON),
    ];
    const before = files.map((file) => [read(file), fs.statSync(file).mode]);
    const { code, stdout } = await wrap({ yes: '' });
    expect(code).toBe(0);
    for (const file of files) {
      expect(stdout).toContain(`Changed ${file}`);
      expect(read(file)).toContain('assay.js');
      expect(read(file)).not.toContain('.part');
    }
    const again = await wrap({ yes: '' });
    expect(again.stdout).toContain('Nothing to change');
    await wrap({ undo: '', yes: '' });
    expect(files.map((file) => [read(file), fs.statSync(file).mode])).toEqual(before);
    expect(fs.readdirSync(join(home, '.local/state/assay/wrap'))).toEqual([]);
  });

  it('keeps what it needs for the way back where only its owner can read it', async () => {
    write(join(work, '.mcp.json'), MCP_JSON);
    await wrap({ yes: '' });
    const directory = join(home, '.local/state/assay/wrap');
    expect(fs.statSync(directory).mode & 0o777).toBe(0o700);
    const [state = ''] = fs.readdirSync(directory);
    expect(fs.statSync(join(directory, state)).mode & 0o777).toBe(0o600);
    expect(read(join(directory, state))).not.toContain('secret');
  });

  it('goes through a link to the file behind it, and leaves the link', async () => {
    const file = write(join(home, 'dotfiles/mcp.json'), MCP_JSON);
    fs.symlinkSync(file, join(work, '.mcp.json'));
    await wrap({ yes: '' });
    expect(fs.lstatSync(join(work, '.mcp.json')).isSymbolicLink()).toBe(true);
    expect(read(file)).toContain('assay.js');
    await wrap({ yes: '', undo: '', file });
    expect(read(file)).toBe(MCP_JSON);
  });

  it('wraps only the servers that are named, with the policy that is', async () => {
    const file = write(
      join(work, '.mcp.json'),
      '{"mcpServers":{"a":{"command":"x"},"b":{"command":"y"}}}',
    );
    const policy = write(join(work, 'policy.yaml'), 'api_version: assay/v1\n');
    await wrap({ yes: '', policy, 'allow-net': 'example.org:443' }, 'b');
    const { mcpServers } = JSON.parse(read(file)) as {
      mcpServers: Record<string, { command: string; args?: string[] }>;
    };
    expect(mcpServers['a']).toEqual({ command: 'x' });
    expect(mcpServers['b']?.args).toEqual(
      ['sandbox', '--quiet', '--policy', policy, '--allow-net', 'example.org:443'].concat(
        '--',
        'y',
      ),
    );
  });

  it.each([
    ['a server that is not there', {}, ['fils'], /no server "fils", did you mean files/],
    ['a policy that does not load', { policy: '/nonexistent.yaml' }, [], /Cannot read the policy/],
    ['a preset that is not there', { preset: 'none' }, [], /preset/],
    ['no terminal to ask on', {}, [], /no terminal/],
  ])('refuses %s, and changes nothing', async (_, flags, names, message) => {
    const file = write(join(work, '.mcp.json'), MCP_JSON);
    await expect(wrap(flags, ...names)).rejects.toThrow(message);
    expect(read(file)).toBe(MCP_JSON);
  });

  it('says where a file cannot be read', async () => {
    write(join(work, '.mcp.json'), '{\n  "mcpServers": {,}\n}');
    const error: unknown = await wrap({ yes: '' }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(AssayError);
    expect((error as AssayError).message).toContain('.mcp.json:2:18: the name of a member');
  });

  it('says that there is nothing to wrap', async () => {
    await expect(wrap({ client: 'cursor' })).rejects.toThrow('no configuration of cursor');
  });
});
