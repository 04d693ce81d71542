import { makePlan, type Plan, type PlanInput } from '../../plan/make-plan.ts';
import { choosePlanNet } from '../../plan/net-plan.ts';

export type BoundaryRequest = Pick<
  PlanInput,
  'argv' | 'env' | 'policy' | 'variables' | 'host' | 'tree' | 'choice' | 'trustedPem'
>;

/** The plan of the run with its boundary, which a dry run has not: what it would refuse is what that tells. */
export async function planBoundedRun(request: BoundaryRequest): Promise<Plan> {
  const planNet = await choosePlanNet(request.policy.net);
  return makePlan({ ...request, planNet, parentPid: 0, graceMs: 0, recording: 'all' });
}
