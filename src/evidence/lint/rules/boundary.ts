import { EVENT_TYPES } from '../../bundle/event-data.ts';
import { toList, toRecord, toText } from '../plain-data.ts';
import { type Check, type Detector, defineRule, type Report, type SeenEvent } from '../rule.ts';

const DEGRADED = defineRule({
  id: 'ASSAY-HON-005',
  area: 'honesty',
  severity: 'warning',
  title: 'A rule was not enforced',
  explanation:
    'The run asked for something that the machine could not enforce, and went on without it. What the record says ' +
    'about the boundary holds only for the rest.',
  fix: 'Run it where the layer is there (assay doctor says what is missing), or with --fail-closed, so that such a run does not start.',
  securitySeverity: '5.0',
});

const FOLDED = defineRule({
  id: 'ASSAY-HON-006',
  area: 'honesty',
  severity: 'info',
  title: 'Events were folded into their directory',
  explanation:
    'There were so many distinct events that only their directory was kept, with a digest of the names. What exactly ' +
    'was touched there cannot be told from the bundle.',
  fix: 'Look at the directory itself, or run the parts of the work one by one.',
});

const LAYER_ABSENT = defineRule({
  id: 'ASSAY-HON-007',
  area: 'honesty',
  severity: 'info',
  title: 'A layer of the boundary was not there',
  explanation:
    'The boundary is made of several layers. This one was left out, or the machine does not have it; the others had ' +
    'to do without.',
  fix: 'Run assay doctor to see what the machine lacks and what to do about it.',
});

const NO_BOUNDARY = defineRule({
  id: 'ASSAY-HON-008',
  area: 'honesty',
  severity: 'error',
  title: 'Nothing bounded which files were written',
  explanation:
    'Neither Landlock nor the mount namespace nor the broker was there. The program could do whatever its user can.',
  fix: 'Do not take this run as contained. Run it on a machine where assay doctor finds at least one of the three.',
  securitySeverity: '8.0',
});

const DRY_RUN = defineRule({
  id: 'ASSAY-HON-009',
  area: 'honesty',
  severity: 'warning',
  title: 'The evidence is of a dry run, in which nothing is refused',
  explanation:
    'In a dry run the policy is compared with what happened, and nothing is blocked. That nothing was refused says ' +
    'nothing about the boundary.',
  fix: 'Run it again without --dry-run.',
  securitySeverity: '5.0',
});

const BOUNDING_LAYERS: ReadonlySet<string> = new Set(['landlock', 'mount', 'broker']);

export const BOUNDARY: Detector = {
  rules: [DEGRADED, FOLDED, LAYER_ABSENT, NO_BOUNDARY, DRY_RUN],
  makeCheck: (report): Check => ({
    event(seen) {
      const { fact, at, data } = seen;
      if (fact.kind === 'degradation')
        report(DEGRADED, { place: fact.rule, op: '', subject: fact.reason, at });
      else if (fact.kind === 'folded')
        report(FOLDED, { place: fact.path, op: fact.op, subject: fact.program, at });
      else if (fact.type === EVENT_TYPES.layers) checkLayers(seen, report);
      else if (fact.type === EVENT_TYPES.started && data['mode'] === 'dry-run')
        report(DRY_RUN, { place: '', op: '', subject: '', at });
    },
  }),
};

function checkLayers({ data, at }: SeenEvent, report: Report): void {
  let bounding = 0;
  for (const item of toList(data['layers'])) {
    const { layer: name, status, reason } = toRecord(item);
    const layer = toText(name);
    if (status !== 'absent') {
      if (BOUNDING_LAYERS.has(layer)) bounding++;
      continue;
    }
    report(LAYER_ABSENT, { place: layer, op: '', subject: toText(reason), at });
  }
  if (bounding === 0) report(NO_BOUNDARY, { place: '', op: '', subject: '', at });
}
