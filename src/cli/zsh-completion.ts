import type { Candidates, FindCandidates } from './completion.ts';
import { COMMANDS, type Command, type CommandName, type Flag } from './grammar.ts';
import { type CommandText, GROUP_SUMMARIES, TEXTS } from './help-texts.ts';

const NAMES = Object.keys(COMMANDS) as CommandName[];

/** For the file `_assay` on fpath, and for `source` as well: the last lines tell which of the two it is. */
export function renderZshCompletion(find: FindCandidates): string {
  const groups = [...new Set(NAMES.filter((name) => name.includes(' ')).map(firstWord))];
  const single = NAMES.filter((name) => !name.includes(' '));
  const top = [
    ...groups.map((group) => describe(group, GROUP_SUMMARIES[group] ?? '')),
    ...single.map((name) => describe(name, TEXTS[name].summary)),
  ];
  return `#compdef assay
# Completion of assay for zsh. Made by: assay completion zsh

_assay() {
  local curcontext="$curcontext" state line
  typeset -A opt_args
  _arguments -C \\
    '(- *)'{-h,--help}'[Show help]' \\
    '(- *)'{-V,--version}'[Print the version]' \\
    '1: :->command' \\
    '*:: :->arguments' && return
  case $state in
    command) ${choose('command', top)} ;;
    arguments)
      case $words[1] in
${groups.map((group) => `        ${group}) _assay_${group} ;;`).join('\n')}
${single.map((name) => `        ${name}) ${renderArguments(name, find, 10)} ;;`).join('\n')}
      esac ;;
  esac
}

${groups.map((group) => renderGroup(group, find)).join('\n\n')}

if [[ $funcstack[1] == _assay ]]; then _assay "$@"; else compdef _assay assay; fi
`;
}

function renderGroup(group: string, find: FindCandidates): string {
  const names = NAMES.filter((name) => name.startsWith(`${group} `));
  const word = (name: string): string => name.slice(group.length + 1);
  const list = names.map((name) => describe(word(name), TEXTS[name].summary));
  return `_assay_${group}() {
  local curcontext="$curcontext" state line
  typeset -A opt_args
  _arguments -C '(- *)'{-h,--help}'[Show help]' '1: :->command' '*:: :->arguments' && return
  case $state in
    command) ${choose(`${group} command`, list)} ;;
    arguments)
      case $words[1] in
${names.map((name) => `        ${word(name)}) ${renderArguments(name, find, 10)} ;;`).join('\n')}
      esac ;;
  esac
}`;
}

function choose(title: string, list: readonly string[]): string {
  return `local -a commands=(${list.join(' ')}); _describe ${quote(title)} commands`;
}

function describe(name: string, summary: string): string {
  return quote(`${name}:${summary.replaceAll(':', '\\:')}`);
}

/** -S: after `--` there are no more flags; -A: nor after the first argument, where the program starts. */
function renderArguments(name: CommandName, find: FindCandidates, indent: number): string {
  const { flags, positional }: Command = COMMANDS[name];
  const texts: CommandText['flags'] = TEXTS[name].flags;
  const specs = Object.entries(flags).map(([flag, spec]) =>
    renderFlag(flag, spec, { help: texts[flag]?.help ?? '', find }),
  );
  specs.push(`'(- *)'{-h,--help}'[Show help]'`);
  if (positional?.isCommand)
    specs.push(`'(-)1:command:_command_names -e'`, `'*::arguments:_normal'`);
  else if (name === 'help') specs.push(quote(`*:command:(${listWords()})`));
  else if (positional) {
    specs.push(quote(`1:${positional.name}:${act(find(positional.name, positional.choices))}`));
  }
  const options = positional?.isCommand ? `-s -S -A '-*'` : '-s -S';
  return [`_arguments ${options}`, ...specs].join(` \\\n${' '.repeat(indent)}`);
}

function listWords(): string {
  return [...new Set(NAMES.flatMap((name) => name.split(' ')))].join(' ');
}

function renderFlag(
  name: string,
  { short, value, choices, isRepeatable, isList, conflicts = [] }: Flag,
  { help, find }: { help: string; find: FindCandidates },
): string {
  const long = `--${name}`;
  const isMany = isRepeatable || isList;
  const excluded = [
    ...(isMany ? [] : [long, ...(short === undefined ? [] : [`-${short}`])]),
    ...conflicts.map((other) => `--${other}`),
  ];
  const before = isMany ? '*' : `(${excluded.join(' ')})`;
  const text = help.replaceAll(/[[\]:\\]/g, String.raw`\$&`);
  const after = `[${text}]${value === undefined ? '' : `:${value}:${act(find(value, choices))}`}`;
  // `--name=` lets both `--name value` and `--name=value` through.
  const form = value === undefined ? long : `${long}=`;
  if (short === undefined) return quote(before + form + after);
  return `${quote(before)}{-${short},${form}}${quote(after)}`;
}

function act(candidates: Candidates): string {
  if (candidates === 'files') return '_files';
  if (candidates === 'directories') return '_files -/';
  if (candidates === 'anything') return ' ';
  return `(${candidates.join(' ')})`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function firstWord(name: string): string {
  return name.split(' ')[0] ?? '';
}
