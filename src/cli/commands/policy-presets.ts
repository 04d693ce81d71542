import { toPrintableJson } from '../../core/printable.ts';
import { AssayError } from '../../core/errors.ts';
import { findClosest } from '../../policy/did-you-mean.ts';
import { DEFAULT_PRESET, findPreset, PRESETS, type PresetName } from '../../policy/presets.ts';
import type { ParsedCommand } from '../parse.ts';

const DESCRIPTIONS: Readonly<Record<PresetName, string>> = {
  'mcp-server-minimal': 'workspace readable, private tmp writable, no network but its own loopback',
  'coding-agent': 'workspace writable, configuration in it protected, the rest as above',
};

function listPresets(): string {
  const names = Object.keys(PRESETS) as PresetName[];
  const width = Math.max(...names.map((name) => name.length));
  const lines = names.map(
    (name) =>
      `${name.padEnd(width)}  ${DESCRIPTIONS[name]}${name === DEFAULT_PRESET ? ' (default)' : ''}`,
  );
  return `${lines.join('\n')}\n`;
}

function toJson(): object[] {
  return (Object.keys(PRESETS) as PresetName[]).map((name) => ({
    name,
    isDefault: name === DEFAULT_PRESET,
    description: DESCRIPTIONS[name],
    policy: PRESETS[name],
  }));
}

/** `assay policy presets`: the list; with a name, that preset as a policy file to start from. */
export async function run({ flags, rest }: Pick<ParsedCommand, 'flags' | 'rest'>): Promise<number> {
  const [name] = rest;
  if (name === undefined) {
    const text = flags.has('json') ? `${toPrintableJson(toJson(), 2)}\n` : listPresets();
    process.stdout.write(text);
    return 0;
  }
  const preset = findPreset(name);
  if (!preset) {
    const near = findClosest(name, Object.keys(PRESETS));
    throw new AssayError(
      'E_USAGE',
      `Unknown preset "${name}"${near ? `, did you mean ${near}?` : ''}`,
      {
        hint: `Presets are ${Object.keys(PRESETS).join(', ')}`,
      },
    );
  }
  if (flags.has('json')) process.stdout.write(`${toPrintableJson(preset, 2)}\n`);
  else {
    const { stringify } = await import('yaml');
    process.stdout.write(stringify(preset));
  }
  return 0;
}
