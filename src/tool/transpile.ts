import { transform } from 'sucrase';

export interface CodeProblem {
  readonly message: string;
  readonly line: number;
  readonly column: number;
}

/** TypeScript without its types, line by line as it was; or where it cannot be read. */
export function transpile(code: string): { readonly code: string } | CodeProblem {
  try {
    const result = transform(code, {
      transforms: ['typescript'],
      disableESTransforms: true,
      preserveDynamicImport: true,
      keepUnusedImports: false,
    });
    return { code: result.code };
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    const { loc } = error as { readonly loc?: { readonly line: number; readonly column: number } };
    // Such as `Error transforming: Unexpected token (3:7)`.
    const found = /^(?:Error transforming[^:]*: )?(.*?)(?: \((\d+):(\d+)\))?$/s.exec(text);
    return {
      message: found?.[1] ?? text,
      line: loc?.line ?? Number(found?.[2] ?? 1),
      column: loc?.column ?? Number(found?.[3] ?? 1),
    };
  }
}
