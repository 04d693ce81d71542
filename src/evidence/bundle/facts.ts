import type {
  ChangeData,
  CoverageData,
  EnvironmentData,
  LineData,
  PolicyData,
} from './event-data.ts';

/** What readers of a bundle ask about, whichever kind of bundle it came from. */
export type Fact = FactBase &
  (
    | ({ readonly kind: 'file' | 'program' | 'network' | 'limit' | 'folded' } & LineData)
    | ({ readonly kind: 'change' } & ChangeData)
    | ({ readonly kind: 'policy' } & PolicyData)
    | ({ readonly kind: 'environment' } & EnvironmentData)
    | ({ readonly kind: 'coverage' } & CoverageData)
    | { readonly kind: 'degradation'; readonly rule: string; readonly reason: string }
    | { readonly kind: 'other' }
  );

interface FactBase {
  readonly seq: number;
  readonly type: string;
  readonly time: string;
  readonly subject?: string | undefined;
}
