import type { Candidates, FindCandidates } from './completion.ts';
import { COMMANDS, type Command } from './grammar.ts';

/**
 * bash cuts words at `=`, so `--policy=a` arrives as three. The loop walks what stands before the cursor: the words of
 * the command, flags, a value when `flag` is set, and for sandbox the place where the program starts.
 */
export function renderBashCompletion(find: FindCandidates): string {
  const names = Object.keys(COMMANDS);
  const groups = new Set(names.filter((name) => name.includes(' ')).map(firstWord));
  const programs = names.filter((name) => commandOf(name).positional?.isCommand);
  return `# Completion of assay for bash. Made by: assay completion bash
_assay_files() { compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen "$@" -- "$cur"); }
_assay_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur"); }

_assay_program() {
  if declare -F _command_offset >/dev/null; then _command_offset "$1"
  elif ((COMP_CWORD == $1)); then _assay_files -c
  else _assay_files -f
  fi
}

_assay() {
  local cur=\${COMP_WORDS[COMP_CWORD]} command= flag= valued= word i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if [[ $word == '=' ]]; then continue; fi
    if [[ -n $flag ]]; then flag=; continue; fi
    case $command in
      ''${[...groups].map((group) => ` | ${group}`).join('')}) command+=\${command:+ }$word ;;
      *)
        _assay_valued
        if [[ " $valued " == *" $word "* ]]; then flag=$word
        elif [[ $word == -- || $word != -* ]]; then
          case $command in
            ${programs.map(quote).join(' | ')})
              if [[ $word == -- ]]; then ((i++)); fi
              _assay_program "$i"
              return ;;
          esac
        fi ;;
    esac
  done
  if [[ $cur == '=' ]]; then cur=; fi
  case "$command $flag" in
${indent(
  4,
  names.flatMap((name) => renderValues(name, find)),
)}
  esac
  case $command in
    '') _assay_words ${quote([...new Set(names.map(firstWord))].join(' '))} ;;
${indent(
  4,
  [...groups].map((group) => renderGroup(group, names)),
)}
${indent(
  4,
  names.map((name) => renderCommand(name, find)),
)}
  esac
}

_assay_valued() {
  case $command in
${indent(4, names.flatMap(renderValued))}
  esac
}

complete -F _assay assay
`;
}

function commandOf(name: string): Command {
  return COMMANDS[name as keyof typeof COMMANDS];
}

function firstWord(name: string): string {
  return name.split(' ')[0] ?? '';
}

/** `-p --policy`: every way to write the flags of a command. */
function spellings(name: string, isValued: boolean): string[] {
  const flags = Object.entries(commandOf(name).flags);
  return flags
    .filter(([, { value }]) => !isValued || value !== undefined)
    .flatMap(([flag, { short }]) => [...(short === undefined ? [] : [`-${short}`]), `--${flag}`]);
}

function renderValued(name: string): string[] {
  const valued = spellings(name, true);
  return valued.length === 0 ? [] : [`${quote(name)}) valued=${quote(valued.join(' '))} ;;`];
}

function renderValues(name: string, find: FindCandidates): string[] {
  return Object.entries(commandOf(name).flags).flatMap(([flag, { short, value, choices }]) => {
    if (value === undefined) return [];
    const forms = [...(short === undefined ? [] : [`-${short}`]), `--${flag}`];
    const patterns = forms.map((form) => quote(`${name} ${form}`)).join(' | ');
    return [`${patterns}) ${offer(find(value, choices))}; return ;;`];
  });
}

function renderGroup(group: string, names: readonly string[]): string {
  const below = names.filter((name) => name.startsWith(`${group} `));
  const words = below.map((name) => name.slice(group.length + 1)).join(' ');
  return `${group}) _assay_words ${quote(words)} ;;`;
}

function renderCommand(name: string, find: FindCandidates): string {
  const { positional } = commandOf(name);
  const flags = `_assay_words ${quote([...spellings(name, false), '-h', '--help'].join(' '))}`;
  let rest = ':';
  if (positional?.isCommand) rest = '_assay_program "$COMP_CWORD"';
  else if (name === 'help') rest = `_assay_words ${quote(listWords())}`;
  else if (positional) rest = offer(find(positional.name, positional.choices));
  return `${quote(name)}) if [[ $cur == -* ]]; then ${flags}; else ${rest}; fi ;;`;
}

/** `help` takes the words of a command one by one. */
function listWords(): string {
  return [...new Set(Object.keys(COMMANDS).flatMap((name) => name.split(' ')))].join(' ');
}

function offer(candidates: Candidates): string {
  if (candidates === 'files') return '_assay_files -f';
  if (candidates === 'directories') return '_assay_files -d';
  if (candidates === 'anything') return ':';
  return `_assay_words ${quote(candidates.join(' '))}`;
}

function quote(text: string): string {
  return `'${text}'`;
}

function indent(width: number, lines: readonly string[]): string {
  return lines.map((line) => ' '.repeat(width) + line).join('\n');
}
