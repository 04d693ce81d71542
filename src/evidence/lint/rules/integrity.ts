import { type Detector, defineRule } from '../rule.ts';

const UNBOUND = defineRule({
  id: 'ASSAY-INT-001',
  area: 'integrity',
  severity: 'info',
  title: 'Who made the bundle, and under which policy, is not bound by a hash',
  explanation:
    'The bundle is in the older format. Its hashes cover what the events say, but not the run id, the producer, the ' +
    'times or the policy: all of these can be rewritten so that the bundle still verifies.',
  fix: 'Make the bundle with assay sandbox --bundle, which binds them, and sign it with assay evidence sign.',
});

export const INTEGRITY: Detector = {
  rules: [UNBOUND],
  makeCheck(report, { isSandbox }) {
    return {
      end() {
        if (!isSandbox) report(UNBOUND, { place: '', op: '', subject: '' });
      },
    };
  },
};
