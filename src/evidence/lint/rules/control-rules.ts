import { defineRule } from '../rule.ts';

/* The controls that a reviewer asks about first, and what else a run may have reached for. */

export const CONFIGURATION_WRITTEN = defineRule({
  id: 'ASSAY-CTL-001',
  area: 'controls',
  severity: 'error',
  title: 'Wrote configuration that runs later',
  explanation:
    'A file was written whose content runs, or makes a trusted program run something, later and outside the sandbox: ' +
    'a git hook, a shell start-up file, settings of an editor, an agent or a CI system.',
  fix: 'Read what was written before anything else uses it. If the run need not write it, take the grant out of the policy.',
  securitySeverity: '8.5',
});

export const CONFIGURATION_TRIED = defineRule({
  id: 'ASSAY-CTL-002',
  area: 'controls',
  severity: 'warning',
  title: 'Tried to write configuration that runs later',
  explanation:
    'Something that would run later, outside the sandbox, was to be written, and was not. A program that does ' +
    'ordinary work seldom has a reason to.',
  fix: 'Find out why it tried. If it is part of the work, name the file under fs.write in the policy.',
  securitySeverity: '6.0',
});

export const NETWORK_REACHED = defineRule({
  id: 'ASSAY-CTL-003',
  area: 'controls',
  severity: 'warning',
  title: 'Reached the network',
  explanation:
    'A connection was made to an address that is not the loopback of the run. Whatever the run could read may have left.',
  fix: 'Check that the endpoint is one that the work needs. Without net.allow in the policy the run has no network.',
  securitySeverity: '6.5',
});

export const HOST_REACHED = defineRule({
  id: 'ASSAY-CTL-004',
  area: 'controls',
  severity: 'warning',
  title: 'Reached a service of the host over loopback',
  explanation:
    'The run had the network of the host, so that loopback is that of the host: databases, browsers and agents listen ' +
    'there, often without asking who comes.',
  fix: 'Leave the host\'s network out of the policy (net.allow: ["*"]); the run then has a loopback of its own.',
  securitySeverity: '6.0',
});

export const SOCKET_REACHED = defineRule({
  id: 'ASSAY-CTL-005',
  area: 'controls',
  severity: 'warning',
  title: 'Reached a service of the host through a unix socket',
  explanation:
    'A program outside listens on this socket and does what it is asked with its own rights: a container engine, a ' +
    'display, a bus, an ssh agent.',
  fix: 'Take the socket out of unix.allow unless the work needs it.',
  securitySeverity: '6.5',
});

export const MADE_RUN = defineRule({
  id: 'ASSAY-CTL-006',
  area: 'controls',
  severity: 'warning',
  title: 'Ran a program that the run itself made',
  explanation:
    'A file was written in the run and executed in it. That is what building and testing does; it is also what a ' +
    'dropper does.',
  fix: 'Check that it is a product of the build. Without ${CWD} under fs.exec in the policy it does not run.',
  securitySeverity: '4.0',
});

export const DOWNLOAD_RUN = defineRule({
  id: 'ASSAY-CTL-007',
  area: 'controls',
  severity: 'error',
  title: 'Ran a program that was downloaded in the run',
  explanation:
    'A file was written by a program that had reached the network, and was then executed. Nobody has reviewed it.',
  fix: 'Download and check it before the run, and pin its digest; or run without a network.',
  securitySeverity: '8.5',
});

export const OUTSIDE_WRITTEN = defineRule({
  id: 'ASSAY-CTL-008',
  area: 'controls',
  severity: 'warning',
  title: 'Wrote outside the workspace',
  explanation:
    'A file was changed that is neither in the workspace nor in the private tmp. It stays after the run, where a ' +
    'review of the workspace does not see it.',
  fix: 'Look at what was changed there. If the run need not write it, take the grant out of the policy.',
  securitySeverity: '6.0',
});

export const SECRET_READ = defineRule({
  id: 'ASSAY-CTL-009',
  area: 'controls',
  severity: 'error',
  title: 'Read a secret',
  explanation:
    'A file was opened that holds credentials: keys, tokens of cloud and package services, .env files, keyrings, ' +
    'browser profiles. Whether it was used is not recorded; that it could be is.',
  fix: 'Deny it in the policy (fs.deny), and renew what may have become known if the run could reach the network.',
  securitySeverity: '8.5',
});

export const SECRET_REFUSED = defineRule({
  id: 'ASSAY-CTL-010',
  area: 'controls',
  severity: 'warning',
  title: 'Tried to read a secret',
  explanation: 'A file that holds credentials was to be opened, and that was refused or failed.',
  fix: 'Find out why it tried; nothing was read.',
  securitySeverity: '5.5',
});

export const SECRET_MISSED = defineRule({
  id: 'ASSAY-CTL-011',
  area: 'controls',
  severity: 'info',
  title: 'Looked for a secret that was not there',
  explanation:
    'Many tools look for credentials wherever they might be. Inside, a hidden home has none; with another policy they ' +
    'would have been found.',
  fix: 'Nothing was read. Keep the home hidden.',
});

export const NETWORK_TRIED = defineRule({
  id: 'ASSAY-CTL-012',
  area: 'controls',
  severity: 'warning',
  title: 'Tried to reach the network',
  explanation:
    'A connection to an address that is not the loopback of the run was tried and did not come about: there was no ' +
    'network, or nobody answered.',
  fix: 'Find out what it wanted there. If the work needs it, it also needs a policy that grants the network.',
  securitySeverity: '4.0',
});
