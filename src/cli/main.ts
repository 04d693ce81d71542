import { run as runSandboxCommand } from './commands/sandbox.ts';
import { SANDBOX } from './sandbox-grammar.ts';
import { type ParsedCommand, scanCommand } from './scan.ts';

type Run = (parsed: ParsedCommand) => Promise<number>;

/** Only what a plain `assay sandbox` needs is loaded with this file; every other command brings itself. */
async function findRun(command: string): Promise<Run> {
  switch (command) {
    case 'exec':
      return (await import('./commands/exec.ts')).run;
    case 'mcp':
      return (await import('./commands/mcp.ts')).run;
    case 'wrap':
      return (await import('./commands/wrap.ts')).run;
    case 'backends':
      return (await import('./commands/backends.ts')).run;
    case 'policy check':
      return (await import('./commands/policy-check.ts')).run;
    case 'policy explain':
      return (await import('./commands/policy-explain.ts')).run;
    case 'policy presets':
      return (await import('./commands/policy-presets.ts')).run;
    case 'policy schema':
      return (await import('./commands/policy-schema.ts')).run;
    case 'policy suggest':
      return (await import('./commands/policy-suggest.ts')).run;
    case 'evidence verify':
      return (await import('./commands/evidence-verify.ts')).run;
    case 'evidence show':
      return (await import('./commands/evidence-show.ts')).run;
    case 'evidence lint':
      return (await import('./commands/evidence-lint.ts')).run;
    case 'evidence diff':
      return (await import('./commands/evidence-diff.ts')).run;
    case 'evidence sign':
      return (await import('./commands/evidence-sign.ts')).run;
    case 'evidence view':
      return (await import('./commands/evidence-view.ts')).run;
    case 'evidence export':
      return (await import('./commands/evidence-export.ts')).run;
    case 'evidence check':
      return (await import('./commands/evidence-check.ts')).run;
    case 'keygen':
      return (await import('./commands/keygen.ts')).run;
    case 'doctor':
      return (await import('./commands/doctor.ts')).run;
    case 'selftest':
      return (await import('./commands/selftest.ts')).run;
    case 'completion':
      return (await import('./commands/completion.ts')).run;
    case 'version':
      return (await import('./commands/version.ts')).run;
    default:
      return (await import('./commands/help.ts')).run;
  }
}

async function main(args: readonly string[]): Promise<number> {
  try {
    const parsed =
      args[0] === 'sandbox'
        ? scanCommand('sandbox', SANDBOX, { args, start: 1 })
        : (await import('./parse.ts')).parseCommandLine(args);
    const command = parsed.command.join(' ');
    if (command === 'sandbox') return await runSandboxCommand(parsed);
    const { requireWritten, writeAtPaceOfReader } = await import('./standard-output.ts');
    // These have something to end before they go, and see to it themselves.
    if (command !== 'exec' && command !== 'mcp') writeAtPaceOfReader(() => process.exit());
    const run = await findRun(command);
    const code = await run(parsed);
    requireWritten();
    return code;
  } catch (error) {
    const { printError } = await import('./print-error.ts');
    return printError(error);
  }
}

// Everything has been written by now, and waiting for node to notice takes longer.
void main(process.argv.slice(2)).then((code) => process.exit(code));
