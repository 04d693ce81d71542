import { type ChildProcess, spawn } from 'node:child_process';

/** What is different around a run that does the same as another. */
export interface Circumstances {
  readonly isBusy?: boolean;
  /** In a directory of another length and depth. */
  readonly isElsewhere?: boolean;
  readonly isOtherUser?: boolean;
  /** So many days from now. */
  readonly days?: number;
}

/** The first three run always, with each difference once; all with ASSAY_DETERMINISM=full. */
export const CIRCUMSTANCES: readonly Circumstances[] = [
  {},
  { isBusy: true, isElsewhere: true },
  { isOtherUser: true, days: 109 },
  { isBusy: true },
  { isBusy: true, days: 31 },
  { isElsewhere: true, isOtherUser: true },
  { isElsewhere: true, days: 400 },
  { isBusy: true, isOtherUser: true },
  { isOtherUser: true, days: 17 },
  { isBusy: true, isElsewhere: true, isOtherUser: true, days: 800 },
];

export function describeCircumstances(circumstances: Circumstances): string {
  const { isBusy, isElsewhere, isOtherUser, days } = circumstances;
  const words = [
    isBusy === true ? 'under load' : '',
    isElsewhere === true ? 'in another directory' : '',
    isOtherUser === true ? 'as another user' : '',
    days === undefined ? '' : `${days} days later`,
  ];
  return words.filter(Boolean).join(', ') || 'plain';
}

/** Keeps every processor busy until it is closed. */
export class Load implements Disposable {
  readonly #burners: readonly ChildProcess[];

  constructor(burners: number) {
    this.#burners = Array.from({ length: burners }, () =>
      spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
    );
  }

  [Symbol.dispose](): void {
    for (const burner of this.#burners) burner.kill('SIGKILL');
  }
}
