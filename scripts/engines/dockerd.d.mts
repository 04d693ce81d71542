export declare function findDockerdProblem(): string | undefined;
export declare function startDockerd(): Promise<{
  readonly socket: string;
  readonly host: string;
  readonly pid: number | undefined;
  stop(): Promise<void>;
}>;
