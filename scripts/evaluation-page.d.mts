/** The page, from what bench/options.mjs has written. */
export function renderEvaluation(figures: unknown): string;
/** As the formatter leaves it. */
export function formatPage(text: string): Promise<string>;
