const MAX_PROBLEMS = 10;

/** What is said at the end of a run whose doors to the network broke down. */
export function noteProblem(problems: string[], error: unknown): void {
  const why = error instanceof Error ? error.message : String(error);
  if (problems.length < MAX_PROBLEMS) problems.push(`the doors to the network broke down: ${why}`);
}
