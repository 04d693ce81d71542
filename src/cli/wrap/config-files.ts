import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { ConfigDocument } from './config-document.ts';
import { JsonConfig } from './json-config.ts';
import { TomlConfig } from './toml-config.ts';

export const CLIENTS = [
  'claude',
  'claude-desktop',
  'cursor',
  'vscode',
  'codex',
  'gemini',
  'mcp-json',
] as const;
export type ClientName = (typeof CLIENTS)[number];

/** Where each client has its servers: of a project first, then of a person. */
export function listConfigFiles(client: ClientName): string[] {
  const home = process.env['HOME'] ?? homedir();
  const config = process.env['XDG_CONFIG_HOME'] ?? join(home, '.config');
  switch (client) {
    case 'mcp-json':
      return [resolve('.mcp.json')];
    case 'claude':
      return [resolve('.mcp.json'), join(home, '.claude.json')];
    case 'claude-desktop':
      return [join(config, 'Claude/claude_desktop_config.json')];
    case 'cursor':
      return [resolve('.cursor/mcp.json'), join(home, '.cursor/mcp.json')];
    case 'vscode':
      return [resolve('.vscode/mcp.json'), join(config, 'Code/User/mcp.json')];
    case 'codex':
      return [join(process.env['CODEX_HOME'] ?? join(home, '.codex'), 'config.toml')];
    case 'gemini':
      return [resolve('.gemini/settings.json'), join(home, '.gemini/settings.json')];
  }
}

/** Those that are there. */
export function findConfigFiles(clients: readonly ClientName[]): string[] {
  return [...new Set(clients.flatMap(listConfigFiles))].filter((file) => existsSync(file));
}

/** Throws what is wrong with it, with the place. */
export function openConfig(file: string, text: string): ConfigDocument {
  return file.endsWith('.toml') ? new TomlConfig(text) : new JsonConfig(text);
}
