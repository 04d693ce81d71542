import { defineRule } from '../rule.ts';

export const STATEMENT_UNSUPPORTED = defineRule({
  id: 'ASSAY-HON-001',
  area: 'honesty',
  severity: 'error',
  title: 'A statement about what was not watched completely',
  explanation:
    'The summary says that something did not happen, and the coverage of the same bundle says that nobody looked ' +
    'everywhere, or the events were folded. Where nobody looked, nothing can be said.',
  fix: 'Do not rely on the statement. assay makes none without coverage: find out what made this bundle.',
  securitySeverity: '7.0',
});

export const STATEMENT_CONTRADICTED = defineRule({
  id: 'ASSAY-HON-002',
  area: 'honesty',
  severity: 'error',
  title: 'A statement that the events contradict',
  explanation:
    'The summary says that something did not happen, and an event of the same bundle shows that it did.',
  fix: 'Do not rely on the summary; read the events. Find out what made this bundle.',
  securitySeverity: '8.0',
});

export const CLAIM_UNSUPPORTED = defineRule({
  id: 'ASSAY-HON-003',
  area: 'honesty',
  severity: 'warning',
  title: 'Something is claimed to be observed that nothing in the bundle shows',
  explanation:
    'The coding-agent pack says observed of this surface. There is no event about it and no coverage is stated, so ' +
    'that "nothing was changed" cannot be told from "nobody looked".',
  fix: 'Take an empty list as unknown, not as nothing. Record the run with assay sandbox --bundle.',
  securitySeverity: '6.0',
});

export const CLAIM_CONTRADICTED = defineRule({
  id: 'ASSAY-HON-004',
  area: 'honesty',
  severity: 'error',
  title: 'Something is claimed to be observed that the coverage says was not',
  explanation:
    'The coding-agent pack says observed of this surface, and the coverage of the same bundle says that it was ' +
    'watched in part, or not at all.',
  fix: 'Go by the coverage. Find out what made this bundle.',
  securitySeverity: '7.0',
});

export const COVERAGE_PARTIAL = defineRule({
  id: 'ASSAY-HON-010',
  area: 'honesty',
  severity: 'info',
  title: 'A surface was watched in part',
  explanation:
    'Something about this surface was not seen; the reasons say what. What the bundle shows did happen; what it does ' +
    'not show may have.',
  fix: 'The reasons say what to change: record with --observe all, without the network of the host, where assay doctor finds the broker.',
});

export const COVERAGE_ABSENT = defineRule({
  id: 'ASSAY-HON-011',
  area: 'honesty',
  severity: 'warning',
  title: 'A surface was not watched',
  explanation: 'Nothing can be told from this bundle about what the run did there.',
  fix: 'Record with --observe all, on a machine where assay doctor finds the broker.',
  securitySeverity: '4.0',
});

export const COVERAGE_UNSTATED = defineRule({
  id: 'ASSAY-HON-012',
  area: 'honesty',
  severity: 'info',
  title: 'The bundle does not say what was watched',
  explanation:
    'There is no event that states the coverage. That something is not in the bundle does not mean that it did not ' +
    'happen.',
  fix: 'Record the run with assay sandbox --bundle, which states the coverage of every surface.',
});
