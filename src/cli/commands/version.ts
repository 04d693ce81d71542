import { VERSION } from '../version.ts';

export function run(): Promise<number> {
  process.stdout.write(`assay ${VERSION}\n`);
  return Promise.resolve(0);
}
