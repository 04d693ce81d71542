import { posix } from 'node:path';
import { findClosest } from './did-you-mean.ts';
import { type PolicyDocument, toProblem } from './document.ts';
import { substituteVariables } from './expand.ts';
import { unescapeLiteral } from './glob.ts';
import type { Variables } from './policy.ts';
import { findPreset, PRESETS } from './presets.ts';
import { PolicyError, type PolicyProblem, quote, type Refusal } from './problems.ts';

/** How policy files are reached; this folder touches no file itself. */
export interface PolicyFiles {
  read(file: string): string;
  parse(text: string, file: string): PolicyDocument;
  /** The absolute path, which is what tells two files apart. */
  locate(file: string): string;
}

export interface CollectInput {
  /** A preset or a file, or both: then the file builds on the preset. */
  readonly preset?: string | undefined;
  readonly file?: string | undefined;
  readonly variables: Variables;
  readonly files?: PolicyFiles | undefined;
}

const MAX_DEPTH = 16;

/** In `extends`, what has no slash and no policy file's extension is the name of a preset. */
export function isPresetName(entry: string): boolean {
  return !entry.includes('/') && !/\.(ya?ml|json)$/.test(entry);
}

/** The named documents and all they extend, each once, the extended ones first. */
export function collectDocuments(input: CollectInput): PolicyDocument[] {
  const documents = new Map<string, PolicyDocument>();
  const visit = (entry: Entry, trail: readonly string[]): void => {
    const { id, open } = locateEntry(entry, input);
    if (trail.includes(id)) throw entry.fail({ problem: describeCycle([...trail, id]) });
    if (trail.length >= MAX_DEPTH) {
      throw entry.fail({ problem: `\`extends\` goes more than ${MAX_DEPTH} files deep` });
    }
    if (documents.has(id)) return;
    const document = open();
    for (const [index, text] of (document.data.extends ?? []).entries()) {
      const fail: Fail = (refusal, cause) =>
        toError(toProblem(document, `extends.${index}`, refusal), cause);
      visit(toEntry(text, document, input.variables, fail), [...trail, id]);
    }
    documents.set(id, document);
  };
  const fail: Fail = ({ problem, hint }, cause) => toError({ message: problem, hint }, cause);
  if (input.preset !== undefined) visit({ preset: input.preset, fail }, []);
  if (input.file !== undefined) visit({ file: input.file, fail }, []);
  return [...documents.values()];
}

type Fail = (refusal: Refusal, cause?: unknown) => PolicyError;

interface Entry {
  readonly preset?: string;
  readonly file?: string;
  /** Makes an error at the place that named the entry. */
  readonly fail: Fail;
}

function toEntry(text: string, document: PolicyDocument, variables: Variables, fail: Fail): Entry {
  if (isPresetName(text)) return { preset: text, fail };
  const substituted = substituteVariables(text, variables);
  if (typeof substituted !== 'string') throw fail(substituted);
  const path = unescapeLiteral(substituted);
  if (path.startsWith('/')) return { file: path, fail };
  return { file: posix.join(posix.dirname(document.file?.path ?? '.'), path), fail };
}

function locateEntry(
  { preset, file, fail }: Entry,
  { files }: CollectInput,
): { id: string; open: () => PolicyDocument } {
  if (file !== undefined) {
    if (!files) throw fail({ problem: `no way to read the policy ${quote(file)} was given` });
    return { id: files.locate(file), open: () => readDocument(file, files, fail) };
  }
  const name = preset ?? '';
  const data = findPreset(name);
  if (!data) throw fail(explainUnknownPreset(name));
  return { id: `preset ${name}`, open: () => ({ name: `preset ${name}`, data }) };
}

function readDocument(file: string, files: PolicyFiles, fail: Fail): PolicyDocument {
  let text: string;
  try {
    text = files.read(file);
  } catch (error) {
    throw fail(
      { problem: `cannot read the policy ${quote(file)}: ${explainReadError(error)}` },
      error,
    );
  }
  return files.parse(text, file);
}

function explainReadError(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT') return 'there is no such file';
  if (code === 'EACCES') return 'permission denied';
  if (code === 'EISDIR') return 'it is a directory';
  return error instanceof Error ? error.message : String(error);
}

function explainUnknownPreset(name: string): Refusal {
  const known = Object.keys(PRESETS);
  const near = findClosest(name, known);
  return {
    problem: `unknown preset ${quote(name)}${near ? `, did you mean \`${near}\`?` : ''}`,
    hint: `presets are ${known.map((one) => `\`${one}\``).join(', ')}; a file needs a slash or an extension`,
  };
}

function describeCycle(trail: readonly string[]): string {
  const last = trail.at(-1) ?? '';
  return `\`extends\` goes round in a circle: ${trail.slice(trail.indexOf(last)).join(' → ')}`;
}

function toError(problem: PolicyProblem, cause: unknown): PolicyError {
  return new PolicyError([problem], cause);
}
