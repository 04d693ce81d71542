import { AssayError } from '../core/errors.ts';
import { COMMANDS, type Command, type CommandName, type Flag } from './grammar.ts';
import { type CommandText, GROUP_SUMMARIES, TEXTS } from './help-texts.ts';

/** Help for one command, for a group of commands (`policy`), or for everything when `words` is empty. */
export function renderHelp(words: readonly string[]): string {
  const name = words.join(' ');
  if (Object.hasOwn(COMMANDS, name)) return renderCommand(name as CommandName);
  if (name === '') return renderOverview();
  const below = listCommands().filter((command) => command.startsWith(`${name} `));
  if (below.length > 0) return renderGroup(name, below);
  throw new AssayError('E_USAGE', `Unknown command \`${name}\``, { hint: 'Try assay --help' });
}

function listCommands(): CommandName[] {
  return Object.keys(COMMANDS) as CommandName[];
}

function renderOverview(): string {
  return joinSections([
    'Run an agent, an MCP server or any command inside a boundary the kernel enforces',
    makeSection('Usage', [renderUsage('sandbox'), 'assay COMMAND --help']),
    renderCommands(listCommands()),
    renderExamples(TEXTS.sandbox.examples.slice(0, 2)),
  ]);
}

function renderGroup(group: string, names: readonly CommandName[]): string {
  return joinSections([
    GROUP_SUMMARIES[group] ?? '',
    makeSection('Usage', names.map(renderUsage)),
    renderCommands(names),
    renderExamples(names.flatMap((name) => TEXTS[name].examples.slice(0, 1))),
  ]);
}

function renderCommand(name: CommandName): string {
  const text: CommandText = TEXTS[name];
  const { flags }: Command = COMMANDS[name];
  const width = Math.max(0, ...Object.keys(flags).map((flag) => spell(flag, flags).length));
  const groups = new Set(Object.values(text.flags).map(({ group }) => group));
  const sections = [...groups].map((group) => {
    const rows = Object.entries(text.flags).filter(([, flag]) => flag.group === group);
    const lines = rows.map(([flag, { help }]) => `${spell(flag, flags).padEnd(width)}  ${help}`);
    return makeSection(group, lines);
  });
  return joinSections([
    text.summary,
    makeSection('Usage', [renderUsage(name)]),
    ...sections,
    ...(text.notes ? [makeSection('Notes', text.notes)] : []),
    renderExamples(text.examples),
  ]);
}

/** How a command is called, such as `assay policy check [OPTIONS] FILE`. */
function renderUsage(name: CommandName): string {
  const { flags, positional }: Command = COMMANDS[name];
  const parts = ['assay', name];
  if (Object.keys(flags).length > 0) parts.push('[OPTIONS]');
  if (positional?.isCommand) parts.push('[--]', positional.name, '[ARGS...]');
  else if (positional) {
    const shown = positional.choices?.join('|') ?? positional.name;
    parts.push(positional.min === 0 ? `[${shown}]` : shown);
  }
  return parts.join(' ');
}

function renderCommands(names: readonly CommandName[]): string {
  const width = Math.max(...names.map((name) => name.length));
  const lines = names.map((name) => `${name.padEnd(width)}  ${TEXTS[name].summary}`);
  return makeSection('Commands', lines);
}

function spell(name: string, flags: Readonly<Record<string, Flag>>): string {
  const { short, value, isRepeatable, isList } = flags[name] ?? {};
  const start = short === undefined ? '    ' : `-${short}, `;
  const end = isRepeatable || isList ? '...' : '';
  return `${start}--${name}${value === undefined ? '' : ` ${value}${end}`}`;
}

function renderExamples(examples: CommandText['examples']): string {
  const lines = examples.flatMap(({ line, why }) => [`# ${why}`, line]);
  return makeSection('Examples', lines);
}

function makeSection(title: string, lines: readonly string[]): string {
  return [`${title}:`, ...lines.map((line) => `  ${line}`)].join('\n');
}

function joinSections(sections: readonly string[]): string {
  return `${sections.join('\n\n')}\n`;
}
