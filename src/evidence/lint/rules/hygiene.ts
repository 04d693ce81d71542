import { visitTexts } from '../event-texts.ts';
import { findPersonal, hidePersonal } from '../personal-text.ts';
import { type Check, type Detector, defineRule, type Report, type SeenEvent } from '../rule.ts';
import { hasSecret } from '../secret-text.ts';

const SECRET_TEXT = defineRule({
  id: 'ASSAY-W001',
  area: 'hygiene',
  severity: 'warning',
  title: 'A text of the evidence may hold a secret',
  explanation:
    'The subject or the data of an event holds something that has the form of a key, a token or a password. Whoever ' +
    'gets the bundle gets it, too.',
  fix: 'Renew the secret, keep the bundle to yourself, and hand secrets to programs by files or descriptors, not by arguments or addresses.',
  securitySeverity: '7.0',
});

const UNMARKED_SECRET = defineRule({
  id: 'ASSAY-W003',
  area: 'hygiene',
  severity: 'warning',
  title: 'An event that may hold a secret is not marked as such',
  explanation:
    'The event says assaysecrets: false, and its subject or data holds something that has the form of a secret. ' +
    'Whoever forwards events by that mark forwards it.',
  fix: 'As for ASSAY-W001; what makes the event should set the mark or leave the secret out.',
  securitySeverity: '6.5',
});

const MARKED_PERSONAL = defineRule({
  id: 'ASSAY-W002',
  area: 'hygiene',
  severity: 'warning',
  title: 'An event that is marked as personal still says about whom',
  explanation: 'The event says assaypii: true, and has a subject, or data that tells who it was.',
  fix: 'Leave the subject out, or replace it by a pseudonym, where the event is made.',
  securitySeverity: '4.0',
});

const PERSONAL_TEXT = defineRule({
  id: 'ASSAY-HYG-001',
  area: 'hygiene',
  severity: 'info',
  title: 'A text of the evidence tells who it was',
  explanation:
    'The subject or the data of an event holds an e-mail address or the name of a home directory, and the event is ' +
    'not marked as personal.',
  fix: 'Before you hand the bundle on, make sure that these may be known.',
});

/** The same few programs and places are in most events. */
const MAX_KNOWN = 4096;

interface Verdict {
  readonly isSecret: boolean;
  readonly personal: string | undefined;
}

export const HYGIENE: Detector = {
  rules: [SECRET_TEXT, UNMARKED_SECRET, MARKED_PERSONAL, PERSONAL_TEXT],
  makeCheck: (report) => new HygieneCheck(report),
};

class HygieneCheck implements Check {
  readonly #report: Report;
  readonly #known = new Map<string, Verdict>();

  constructor(report: Report) {
    this.#report = report;
  }

  event(seen: SeenEvent): void {
    const { event, at } = seen;
    let isPersonal = event.assaypii && (event.subject ?? '') !== '';
    visitTexts(seen, (text, pointer) => {
      const { isSecret, personal } = this.#judge(text);
      if (!isSecret && personal === undefined) return;
      const occurrence = { place: `${event.type} ${pointer}`, op: '', at };
      if (isSecret) {
        this.#report(SECRET_TEXT, { ...occurrence, subject: text });
        if (!event.assaysecrets) this.#report(UNMARKED_SECRET, { ...occurrence, subject: text });
      }
      if (personal === undefined) return;
      if (event.assaypii) isPersonal = true;
      else
        this.#report(PERSONAL_TEXT, {
          ...occurrence,
          subject: hidePersonal(text),
          detail: personal,
        });
    });
    if (isPersonal)
      this.#report(MARKED_PERSONAL, { place: event.type, op: '', subject: `event ${at.seq}`, at });
  }

  #judge(text: string): Verdict {
    const known = this.#known.get(text);
    if (known) return known;
    const verdict = { isSecret: hasSecret(text), personal: findPersonal(text) };
    if (this.#known.size >= MAX_KNOWN) this.#known.clear();
    if (text.length < 1000) this.#known.set(text, verdict);
    return verdict;
  }
}
