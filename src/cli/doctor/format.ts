import type { DoctorLayer, DoctorReport, DoctorStatus } from './report.ts';

const STATUS_LINES: Readonly<Record<DoctorStatus, string>> = {
  full: 'the boundary is fully enforceable here',
  degraded: 'some of the boundary is not enforceable here',
  none: 'nothing can be enforced here',
};

const TOPIC_WIDTH = 24;

function formatLayer({ layer, status, reason, detail }: DoctorLayer): string {
  const notes = [detail, reason].filter(Boolean).join('; ');
  return `  ${layer.padEnd(9)} ${status.padEnd(9)} ${notes}`.trimEnd();
}

export function formatDoctorReport(report: DoctorReport): string {
  const { user } = report;
  const lines = [
    `Assay v${report.version}`,
    `Kernel:  Linux ${report.kernel} (${report.arch})`,
    `User:    ${user.name} (uid ${user.uid}, gid ${user.gid})`,
    '',
    'Layers:',
    ...report.layers.map(formatLayer),
    '',
    'What this means for policies:',
    ...report.meanings.map(({ topic, text }) => `  ${topic.padEnd(TOPIC_WIDTH)} ${text}`),
  ];
  if (report.warnings.length > 0)
    lines.push(
      '',
      'What a run is told here, and with --fail-closed does not start for:',
      ...report.warnings.map(({ rule, reason }) => `  ${rule}: ${reason}`),
    );
  if (report.advice.length > 0)
    lines.push('', 'What to do:', ...report.advice.map(({ layer, text }) => `  ${layer}: ${text}`));
  lines.push('', `Status:  ${report.status} (${STATUS_LINES[report.status]})`);
  return `${lines.join('\n')}\n`;
}
