/** What a bundle may hold against a statement. */
export type Witnessed =
  | 'change'
  | 'change elsewhere'
  | 'configuration'
  | 'connection'
  | 'connection elsewhere'
  | 'program elsewhere'
  | 'refusal';

interface StatementKind {
  readonly form: RegExp;
  /** What has to be watched completely before it may be said. */
  readonly surfaces: readonly string[];
  readonly contradictedBy: Witnessed;
}

/** The statements that evidence makes (src/evidence/statements.ts): what did not happen. */
export const STATEMENT_KINDS: readonly StatementKind[] = [
  {
    form: /^No file was changed outside the workspace/,
    surfaces: ['changes'],
    contradictedBy: 'change elsewhere',
  },
  { form: /^No file was changed/, surfaces: ['changes'], contradictedBy: 'change' },
  {
    form: /^No protected configuration was changed/,
    surfaces: ['changes'],
    contradictedBy: 'configuration',
  },
  { form: /^No network connection was made/, surfaces: ['network'], contradictedBy: 'connection' },
  {
    form: /^No connection was made but over loopback/,
    surfaces: ['network'],
    contradictedBy: 'connection elsewhere',
  },
  {
    form: /^No program was run from outside/,
    surfaces: ['programs'],
    contradictedBy: 'program elsewhere',
  },
  {
    form: /^No attempt was refused/,
    surfaces: ['reads', 'changes', 'programs', 'network'],
    contradictedBy: 'refusal',
  },
];
