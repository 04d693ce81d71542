import { defineRule } from '../rule.ts';

export const NETWORK_REFUSED = defineRule({
  id: 'ASSAY-REF-001',
  area: 'refusals',
  severity: 'warning',
  title: 'A connection was refused',
  explanation:
    'The run tried to reach, or to listen at, an address that the policy does not grant.',
  fix: 'If the work needs it, grant it under net.allow or unix.allow; otherwise find out why it tried.',
  securitySeverity: '4.0',
});

export const WRITE_REFUSED = defineRule({
  id: 'ASSAY-REF-002',
  area: 'refusals',
  severity: 'warning',
  title: 'A write was refused',
  explanation: 'The run tried to change something that the policy does not let it change.',
  fix: 'If the work needs it, grant it under fs.write; otherwise find out why it tried.',
  securitySeverity: '4.0',
});

export const READ_REFUSED = defineRule({
  id: 'ASSAY-REF-003',
  area: 'refusals',
  severity: 'info',
  title: 'A read was refused',
  explanation: 'The run tried to open something that the policy does not let it read.',
  fix: 'If the work needs it, grant it under fs.read. Many programs look around and do without.',
});

export const EXEC_REFUSED = defineRule({
  id: 'ASSAY-REF-004',
  area: 'refusals',
  severity: 'warning',
  title: 'A program was not allowed to run',
  explanation: 'The run tried to execute something that the policy does not let it execute.',
  fix: 'If the work needs it, grant it under fs.exec; otherwise find out where it came from.',
  securitySeverity: '5.0',
});

export const LIMIT_REACHED = defineRule({
  id: 'ASSAY-REF-005',
  area: 'refusals',
  severity: 'warning',
  title: 'A limit was reached',
  explanation:
    'The run used up what it was given of time, memory, processes or disk. What it would have done afterwards is not in the bundle.',
  fix: 'Raise the limit if the work needs more; otherwise find out what used it up.',
});
