import { toPrintable } from '../core/printable.ts';
import { type LimitNames, renameLimit } from '../backends/limit-names.ts';
import type { CodeOutput, OutputDenial } from './code-output.ts';

const MAX_DENIALS = 8;
const MAX_FILES = 20;

/** What a model reads: what the program said, how it ended, and why it was refused what it was refused. */
export function renderForModel(output: CodeOutput): string {
  const parts: string[] = [];
  if (output.stdout !== '') parts.push(output.stdout.replace(/\n$/, ''));
  if (output.stderr !== '') parts.push(`[stderr]\n${output.stderr.replace(/\n$/, '')}`);
  for (const { path, content, encoding, error } of output.outputs ?? [])
    parts.push(`[${path}]\n${error ?? (encoding === 'base64' ? '(base64) ' : '')}${content ?? ''}`);
  parts.push(`[${[describeEnd(output, CALL_LIMITS), ...listRemarks(output)].join('. ')}]`);
  return parts.join('\n\n');
}

/** Of a call, the only limit that it can be given. */
const CALL_LIMITS: LimitNames = { wallMs: 'timeout_ms' };

/** One line. `names` are what whoever reads it calls the limits. */
export function describeEnd(output: CodeOutput, names: LimitNames): string {
  const seconds = `${(output.duration_ms / 1000).toFixed(2)} s`;
  switch (output.outcome) {
    case 'exited':
      return `exit ${output.exit_code} after ${seconds}`;
    case 'signaled':
      return `ended by ${output.signal} after ${seconds}`;
    case 'timeout':
      return `timeout: ended after ${seconds}; a longer ${names.wallMs ?? 'timeout'} may be allowed`;
    case 'limit':
      return `ended after ${seconds}: the limit ${renameLimit(output.limit ?? '', names)} was reached`;
    case 'aborted':
      return `cancelled after ${seconds}`;
    case 'refused':
      return output.evidence.run_id === undefined ? 'not run' : 'the program was not started';
  }
}

function listRemarks(output: CodeOutput): string[] {
  const { denials, files, truncated, reached, session } = output;
  const remarks: string[] = [];
  const others = reached.filter((limit) => limit !== output.limit);
  if (others.length > 0) remarks.push(`limits reached: ${others.join(', ')}`);
  if (denials.length > 0) remarks.push(`refused: ${describeDenials(denials)}`);
  const dropped = truncated.stdout + truncated.stderr;
  if (dropped > 0) remarks.push(`${dropped} bytes of output left out`);
  if (files.length > 0) {
    const names = files.slice(0, MAX_FILES).map(({ path, change }) => `${path} (${change})`);
    const more = files.length > MAX_FILES ? ` and ${files.length - MAX_FILES} more` : '';
    remarks.push(`files: ${names.map(toPrintable).join(', ')}${more}`);
  }
  if (output.files_error !== undefined)
    remarks.push(`files: not known (${toPrintable(output.files_error)})`);
  if (session !== undefined) remarks.push(`session: ${session}`);
  return remarks;
}

export function describeDenials(denials: readonly OutputDenial[]): string {
  const shown = denials.slice(0, MAX_DENIALS).map(({ action, target, rule, hint }) => {
    const why = rule === undefined ? '' : ` by ${rule}`;
    return toPrintable(`${action} ${target}${why}${hint === undefined ? '' : ` (${hint})`}`);
  });
  const more = denials.length > MAX_DENIALS ? [`${denials.length - MAX_DENIALS} more`] : [];
  return [...shown, ...more].join('; ');
}
