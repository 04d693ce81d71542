import type { BackendReport, Language } from '../backends/backend.ts';
import { SandboxError } from '../backends/sandbox-error.ts';
import { WORKSPACE } from '../backends/spec.ts';
import { findModuleKind, namesOtherModules } from './module-kind.ts';
import type { CodeProblem } from './transpile.ts';

/** Code as it is put into a sandbox and started there. */
export interface PreparedCode {
  /** The same for equal code, so that equal runs have equal records. */
  readonly fileName: string;
  readonly bytes: Uint8Array;
  /** The program and its flags; the path of the code follows. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** It names modules that are looked for from where it lies. */
  readonly belongsIntoWorkspace: boolean;
}

/** Python keeps what it prints back until it has much of it, which would be lost with a run that is ended. */
const PYTHON_ENV = { PYTHONUNBUFFERED: '1', PYTHONDONTWRITEBYTECODE: '1', PYTHONPATH: WORKSPACE };

/** On the first line, so that the lines of the code keep their numbers. */
const REQUIRE =
  'import{createRequire as $createRequire}from"node:module";' +
  'const require=$createRequire(import.meta.url);';

/** Makes code ready to be run, or says where it cannot be read. */
export async function prepareCode(
  language: Language,
  code: string,
  report: BackendReport,
): Promise<PreparedCode | CodeProblem> {
  switch (language) {
    case 'python':
      return prepareScript('main.py', code, { report, language, env: PYTHON_ENV });
    case 'bash':
      return prepareScript('main.sh', code, { report, language, env: {} });
    case 'javascript':
      return prepareJavaScript(code, report);
    case 'typescript': {
      const { transpile } = await import('./transpile.ts');
      const result = transpile(code);
      return 'code' in result ? prepareJavaScript(result.code, report) : result;
    }
  }
}

/** TypeScript runs as JavaScript. */
export function findRuntime(language: Language, report: BackendReport): readonly string[] {
  const { languages } = report;
  const runtime = languages[language === 'typescript' ? 'javascript' : language];
  if (runtime) return runtime.argv;
  const known = listLanguages(report).join(', ');
  throw new SandboxError(
    'backend_unavailable',
    `The backend ${report.id} has nothing here that runs ${language}; it runs: ${known || 'nothing'}`,
    { hint: 'assay backends shows which languages each backend runs here' },
  );
}

/** What a backend runs here, what is turned into JavaScript included. */
export function listLanguages({ languages }: BackendReport): Language[] {
  const found = Object.keys(languages) as Language[];
  return languages.javascript && !languages.typescript ? [...found, 'typescript'] : found;
}

function prepareScript(
  fileName: string,
  code: string,
  {
    report,
    language,
    env,
  }: { report: BackendReport; language: Language; env: PreparedCode['env'] },
): PreparedCode {
  return {
    fileName,
    bytes: Buffer.from(code, 'utf8'),
    argv: findRuntime(language, report),
    env,
    belongsIntoWorkspace: false,
  };
}

async function prepareJavaScript(code: string, report: BackendReport): Promise<PreparedCode> {
  const { isModule, usesRequire } = await findModuleKind(code);
  const isMixed = isModule && usesRequire && report.id !== 'wasm';
  return {
    fileName: isModule ? 'main.mjs' : 'main.cjs',
    bytes: Buffer.from(isMixed ? REQUIRE + code : code, 'utf8'),
    argv: findRuntime('javascript', report),
    env: {},
    belongsIntoWorkspace: namesOtherModules(code),
  };
}
