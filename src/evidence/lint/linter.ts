import type { BundleEvent, BundleManifest } from '../bundle/bundle.ts';
import { toFact } from '../bundle/facts.ts';
import { compareFindings, type Finding, RuleFindings } from './finding.ts';
import { toRecord } from './plain-data.ts';
import type { Check, Detector, Report, RuleInfo } from './rule.ts';

/** Goes through a bundle once. What it finds counts only when the bundle has turned out to be intact. */
export class Linter {
  readonly #detectors: readonly Detector[];
  readonly #findings = new Map<RuleInfo, RuleFindings>();
  #checks: readonly Check[] = [];

  constructor(detectors: readonly Detector[]) {
    this.#detectors = detectors;
  }

  onManifest(manifest: BundleManifest): void {
    const context = { manifest, isSandbox: manifest.sandbox !== undefined };
    this.#checks = this.#detectors.map((detector) => detector.makeCheck(this.#report, context));
  }

  onEvent(event: BundleEvent, line: number): void {
    const at = { seq: event.assayseq, line, type: event.type };
    const seen = { event, fact: toFact(event), at, data: toRecord(event.data) };
    for (const check of this.#checks) check.event?.(seen);
  }

  /** Everything that was found, the gravest first. */
  finish(): Finding[] {
    for (const check of this.#checks) check.end?.();
    return [...this.#findings.values()].flatMap((found) => found.list()).sort(compareFindings);
  }

  readonly #report: Report = (rule, occurrence) => {
    let found = this.#findings.get(rule);
    if (!found) {
      found = new RuleFindings(rule);
      this.#findings.set(rule, found);
    }
    found.add(occurrence);
  };
}
