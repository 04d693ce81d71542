import { toPrintableJson } from '../../core/printable.ts';
import { probeFacts } from '../../host/probe-facts.ts';
import { readUserName } from '../../host/guess-facts.ts';
import { helperPath } from '../../launch/helper-path.ts';
import { formatDoctorReport } from '../doctor/format.ts';
import { DOCTOR_EXIT, makeDoctorReport } from '../doctor/report.ts';
import type { ParsedCommand } from '../parse.ts';
import { VERSION } from '../version.ts';

/** `assay doctor`: what this host can enforce, found by doing. */
export function run({ flags }: Pick<ParsedCommand, 'flags'>): Promise<number> {
  const probe = probeFacts({ helper: helperPath() });
  const report = makeDoctorReport({
    version: VERSION,
    userName: readUserName(probe.facts.uid),
    probe,
  });
  process.stdout.write(
    flags.has('json') ? `${toPrintableJson(report, 2)}\n` : formatDoctorReport(report),
  );
  return Promise.resolve(DOCTOR_EXIT[report.status]);
}
