import { checkTarget } from '../../artifacts/atomic-file.ts';
import { renameLimit } from '../../backends/limit-names.ts';
import { loadBackend } from '../../backends/registry.ts';
import { requireGuarantees } from '../../backends/requirements.ts';
import type { ExecEvent, Sandbox } from '../../backends/sandbox.ts';
import { toPrintable, toPrintableJson } from '../../core/printable.ts';
import { AssayError } from '../../core/errors.ts';
import { type CodeInput, makeInputSchema, requireInput } from '../../tool/code-input.ts';
import { type CodeOutput, makeOutput } from '../../tool/code-output.ts';
import { FileState } from '../../tool/file-state.ts';
import { describeEnd } from '../../tool/model-text.ts';
import { prepareCode, type PreparedCode } from '../../tool/prepare-code.ts';
import { runCode } from '../../tool/run-code.ts';
import { WorkspaceCode } from '../../tool/workspace-code.ts';
import { LIMIT_FLAGS } from '../limit-flags.ts';
import type { ParsedCommand } from '../parse.ts';
import { chooseLanguage, readCode, readStdin } from './code-source.ts';
import { copyOut, openOut, readInputFiles } from './host-files.ts';
import { readBackendId, readSpec } from './sandbox-flags.ts';
import { StopSignals } from './stop-signals.ts';

/** `assay exec`: one program, in a sandbox that is gone afterwards. */
export async function execOne({ flags, rest }: ParsedCommand): Promise<number> {
  const [file = '-'] = rest;
  const spec = readSpec(flags);
  const language = chooseLanguage(flags, file);
  const stdin = await readStdin(flags, file);
  const files = readInputFiles(flags.list('file'));
  const { out, evidence } = openTargets(flags);
  const backend = await loadBackend(readBackendId(flags));
  const report = await backend.probe();
  requireGuarantees(spec, report);
  // Last, since somebody may be typing it.
  const input: CodeInput = { language, code: await readCode(file), files };
  requireInput({ language, code: input.code }, makeInputSchema());
  const code = await prepareCode(input.language, input.code, report);
  if (!('bytes' in code)) throw refuseCode(code, input.language);
  const stop = new StopSignals();
  let sandbox: Sandbox | undefined;
  try {
    sandbox = await backend.create(spec, { signal: stop.signal });
    const workspaceCode = new WorkspaceCode(spec.workspace);
    const run = { flags, input, code, stdin, stop, workspaceCode, out, evidence };
    const output = await runIn(sandbox, run);
    return stop.exitCode ?? output.exit_code;
  } catch (error) {
    // Whoever ends it knows why.
    if (stop.exitCode !== undefined) return stop.exitCode;
    throw error;
  } finally {
    await sandbox?.[Symbol.asyncDispose]();
    stop.close();
  }
}

interface Run {
  readonly flags: ParsedCommand['flags'];
  readonly input: CodeInput;
  readonly code: PreparedCode;
  readonly stdin: Uint8Array | undefined;
  readonly stop: StopSignals;
  readonly workspaceCode: WorkspaceCode;
  readonly out: string | undefined;
  readonly evidence: string | undefined;
}

/** Tried before anything runs. */
function openTargets(flags: ParsedCommand['flags']): Pick<Run, 'out' | 'evidence'> {
  const directory = flags.text('out');
  const out = directory === undefined ? undefined : openOut(directory);
  const evidence = flags.text('evidence');
  if (evidence !== undefined) checkTarget(evidence, 'the evidence');
  return { out, evidence };
}

async function runIn(
  sandbox: Sandbox,
  { flags, input, code, stdin, stop, workspaceCode, out, evidence }: Run,
): Promise<CodeOutput> {
  const isJson = flags.has('json');
  const run = await runCode({
    sandbox,
    state: new FileState(),
    input,
    code,
    stdin,
    signal: stop.signal,
    onEvent: isJson ? undefined : passOn,
    bundle: evidence,
    workspaceCode,
  });
  const output = makeOutput(run, Infinity);
  const left = out === undefined ? [] : await copyOut(sandbox, run.changes, out);
  if (isJson) process.stdout.write(`${toPrintableJson(output)}\n`);
  else if (!flags.has('quiet')) process.stderr.write(renderEnd(output));
  for (const line of left) process.stderr.write(`assay: ${toPrintable(line)}\n`);
  if (out !== undefined && run.filesError !== undefined)
    throw new AssayError(
      'E_OUTPUT_NOT_WRITTEN',
      `Cannot write to ${JSON.stringify(out)}: ${run.filesError}`,
    );
  return output;
}

function passOn(event: ExecEvent): void {
  if (event.type === 'stdout') process.stdout.write(event.data);
  else if (event.type === 'stderr') process.stderr.write(event.data);
}

/** Only what the program's own output does not say. */
function renderEnd(output: CodeOutput): string {
  const lines: string[] = [];
  if (output.outcome !== 'exited' && output.outcome !== 'aborted')
    lines.push(describeEnd(output, LIMIT_FLAGS));
  const others = output.reached.filter((limit) => limit !== output.limit);
  if (others.length > 0)
    lines.push(
      `limits reached: ${others.map((limit) => renameLimit(limit, LIMIT_FLAGS)).join(', ')}`,
    );
  const { stdout, stderr } = output.truncated;
  if (stdout + stderr > 0) lines.push(`${stdout + stderr} bytes of output left out`);
  for (const { action, target, rule, hint } of output.denials) {
    lines.push(`refused: ${action} ${target}${rule === undefined ? '' : ` (${rule})`}`);
    if (hint !== undefined) lines.push(`hint: ${hint}`);
  }
  return lines.map((line) => `assay: ${toPrintable(line)}\n`).join('');
}

function refuseCode(
  { message, line, column }: { message: string; line: number; column: number },
  language: string,
): AssayError {
  return new AssayError('E_USAGE', `Cannot read the ${language}: ${message}`, {
    at: { file: 'code', line, column },
  });
}
