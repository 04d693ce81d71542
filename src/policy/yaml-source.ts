import { isMap, isScalar, isSeq, parseDocument, type ParsedNode } from 'yaml';
import type { ParsedSource, SourceNode, SyntaxProblem } from './source-node.ts';

/** The only file that loads `yaml`: it costs more start-up time than everything else about a policy. */
export function readYaml(text: string): ParsedSource {
  // Repeated keys are reported by the validator, with a better message and together with everything else.
  const document = parseDocument(text, { prettyErrors: false, uniqueKeys: false, version: '1.2' });
  const problems: SyntaxProblem[] = [...document.errors, ...document.warnings].map((error) => ({
    offset: error.pos[0],
    ...explainError(error.code, error.message),
  }));
  const root = document.contents ? convert(document.contents, problems, 0) : nothing(0);
  return problems.length > 0 ? { problems } : { root };
}

const ALIAS = {
  problem: 'YAML reads a bare * as an alias, and aliases are not supported',
  hint: 'quote entries that start with *, such as "*.pem"',
};

function explainError(code: string, message: string): { problem: string; hint?: string } {
  if (code === 'BAD_ALIAS') return ALIAS;
  if (code === 'MULTIPLE_DOCS') return { problem: 'a policy file holds one YAML document' };
  if (code === 'TAG_RESOLVE_FAILED') {
    return { problem: 'YAML tags are not supported', hint: 'quote entries that start with !' };
  }
  return { problem: (message.split('\n')[0] ?? '').replace(/[.:]$/, '') };
}

const MAX_DEPTH = 32;

function convert(node: ParsedNode, problems: SyntaxProblem[], depth: number): SourceNode {
  const offset = node.range[0];
  if (depth > MAX_DEPTH) {
    problems.push({ offset, problem: 'nested too deeply' });
    return nothing(offset);
  }
  if (isMap(node)) {
    const pairs = node.items.map(({ key, value }) => ({
      key: isScalar(key) ? String(key.value) : toKeyText(key, problems),
      keyOffset: key.range[0],
      value: value ? convert(value, problems, depth + 1) : nothing(key.range[0]),
    }));
    return { kind: 'map', offset, pairs };
  }
  if (isSeq(node)) {
    return {
      kind: 'list',
      offset,
      items: node.items.map((item) => convertItem(item, problems, depth)),
    };
  }
  if (isScalar(node)) {
    const { value } = node;
    const text = node.source ?? '';
    const isKnown =
      value === null ||
      typeof value === 'string' ||
      typeof value === 'number' ||
      typeof value === 'boolean';
    return { kind: 'scalar', offset, value: isKnown ? value : text, text };
  }
  // Following aliases would let a small file stand for an enormous one.
  problems.push({ offset, ...ALIAS });
  return nothing(offset);
}

type SeqItem = Parameters<typeof convert>[0];

function convertItem(item: unknown, problems: SyntaxProblem[], depth: number): SourceNode {
  return convert(item as SeqItem, problems, depth + 1);
}

function toKeyText(key: ParsedNode, problems: SyntaxProblem[]): string {
  problems.push({ offset: key.range[0], problem: 'a key is not a plain name' });
  return '';
}

function nothing(offset: number): SourceNode {
  return { kind: 'scalar', offset, value: null, text: '' };
}
