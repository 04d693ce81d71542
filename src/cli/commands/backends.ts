import { toPrintableJson } from '../../core/printable.ts';
import { listLanguages } from '../../tool/prepare-code.ts';
import { type BackendSurvey, surveyBackends } from '../backends/survey.ts';
import { renderSurvey } from '../backends/survey-table.ts';
import type { ParsedCommand } from '../parse.ts';

/** `assay backends`: which kinds of sandbox there are here, and what each guarantees. */
export async function run({ flags }: Pick<ParsedCommand, 'flags'>): Promise<number> {
  const surveys = await surveyBackends({
    hasLatency: !flags.has('no-latency'),
    isSwept: flags.has('sweep'),
    onMeasure: (id) => showProgress(`measuring ${id} …`),
  });
  showProgress('');
  process.stdout.write(
    flags.has('json')
      ? `${toPrintableJson({ schema: 'assay.backends.v1', backends: surveys.map(toJson) }, 2)}\n`
      : renderSurvey(surveys),
  );
  return 0;
}

function toJson({ id, report, problem, latency, swept }: BackendSurvey): object {
  return {
    id,
    isAvailable: report?.isAvailable ?? false,
    engine: report?.engine,
    reasons: [...(report?.reasons ?? []), ...(problem === undefined ? [] : [problem])],
    hint: report?.hint,
    guarantees: report?.isAvailable ? report.guarantees : undefined,
    languages: report?.isAvailable ? listLanguages(report) : undefined,
    runtimes: report?.isAvailable ? report.languages : undefined,
    latency,
    swept,
  };
}

function showProgress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r${text}\u001b[K`);
}
