import { realpathSync } from 'node:fs';
import { toPrintableJson } from '../../core/printable.ts';
import { probeFacts } from '../../host/probe-facts.ts';
import { readUserName } from '../../host/guess-facts.ts';
import { helperPath } from '../../launch/helper-path.ts';
import { makeApparmorProfile } from '../doctor/apparmor.ts';
import { formatDoctorReport } from '../doctor/format.ts';
import { DOCTOR_EXIT, makeDoctorReport } from '../doctor/report.ts';
import type { ParsedCommand } from '../parse.ts';
import { VERSION } from '../version.ts';

/** `assay doctor`: what this host can enforce, found by doing. */
export function run({ flags }: Pick<ParsedCommand, 'flags'>): Promise<number> {
  if (flags.has('apparmor')) {
    process.stdout.write(makeApparmorProfile(realpathSync(helperPath())));
    return Promise.resolve(0);
  }
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
