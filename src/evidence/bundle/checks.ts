import type { BundleManifest } from './bundle.ts';

export interface BundleCheck {
  readonly name: string;
  /** What was found, in words. */
  readonly detail: string;
}

/** What has been checked of a bundle that is intact, for people. */
export function listChecks(
  { event_count: count, run_root, run_id, producer, sandbox }: BundleManifest,
  kind: 'sandbox' | 'upstream',
): readonly BundleCheck[] {
  return [
    {
      name: 'container',
      detail: 'one gzip stream, one archive, two members, nothing before, between or after them',
    },
    {
      name: 'manifest',
      detail: sandbox
        ? 'canonical, and as it was sealed'
        : 'strict JSON; the older format has no seal',
    },
    {
      name: 'events',
      detail: `${count} in sequence, each with the content that its hash was made of`,
    },
    { name: 'run root', detail: run_root },
    sandbox
      ? { name: 'run', detail: `${run_id}, computed again from the events` }
      : { name: 'run', detail: `${run_id}, as the producer says` },
    kind === 'sandbox' && sandbox
      ? {
          name: 'identity',
          detail: `${producer.name} ${producer.version}, policy ${sandbox.policy.name}: bound to the run root`,
        }
      : {
          name: 'identity',
          detail:
            'not bound: in the older format run, producer and policy can be changed unnoticed',
        },
  ];
}
