import type { PolicyData } from './document.ts';

/** Data, not files: the default run must not open or parse anything. A test checks them against the schema. */
export const PRESETS = {
  /** The workspace can be read, the private tmp written, and nothing but the run's own loopback reached. */
  'mcp-server-minimal': {
    api_version: 'assay/v1',
    fs: {
      exec: ['${CWD}'],
      deny: ['/etc/shadow', '~/.ssh', '~/.aws', '~/.config/gh', '~/.npmrc', '~/.netrc'],
    },
    net: { allow: ['127.0.0.1', 'localhost'], deny: ['0.0.0.0/0'] },
    limits: { pids: 1024 },
  },
  /** The workspace can be written; files in it that would run later outside stay protected. */
  'coding-agent': {
    api_version: 'assay/v1',
    extends: ['mcp-server-minimal'],
    fs: { allow: ['${CWD}'] },
    limits: { pids: 8192 },
  },
} as const satisfies Record<string, PolicyData>;

export type PresetName = keyof typeof PRESETS;

export const DEFAULT_PRESET: PresetName = 'mcp-server-minimal';

export function findPreset(name: string): PolicyData | undefined {
  return Object.hasOwn(PRESETS, name) ? PRESETS[name as PresetName] : undefined;
}
