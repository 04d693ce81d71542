import { readPointer, toText } from '../plain-data.ts';
import {
  type Check,
  type Detector,
  defineRule,
  type EventPlace,
  type Report,
  type SeenEvent,
} from '../rule.ts';

const SOURCE_FORM = defineRule({
  id: 'ASSAY-I001',
  area: 'integrity',
  severity: 'info',
  title: 'The source of an event is neither a URN nor an https address',
  explanation:
    'Sources name who says it. By convention they start with urn: or https://, so that they cannot be confused.',
  fix: 'Give the source that form where the events are made.',
});

const DENIAL_UNBOUND = defineRule({
  id: 'ASSAY-W004',
  area: 'integrity',
  severity: 'warning',
  title: 'A call is said to be denied, and no decision in the bundle denies it',
  explanation:
    'An observation of a denied call names a tool and the digest of its target. No enforcement decision for the two ' +
    'says deny, so that nothing shows who denied it.',
  fix: 'Keep the decisions of the proxy in the same bundle as what was seen of them.',
  securitySeverity: '4.0',
});

const VIEW_UNREADABLE = defineRule({
  id: 'ASSAY-W005',
  area: 'integrity',
  severity: 'warning',
  title: 'What was approved cannot be read from the bundle',
  explanation:
    'An enforcement decision rests on an approval, and what the approver saw was kept in a form that cannot be read, ' +
    'or that is not known. A review of the content remains incomplete, also where every hash is right.',
  fix: 'Keep the approval as structured_meta_jcs, or disclose what was encrypted so that it can be compared.',
});

const DECISION_SCHEMA = 'assay.enforcement_decision.v0';
const DENIALS: ReadonlyMap<string, number> = new Map([
  ['assay.denied_call_observation.v0', -32_042],
  ['assay.denied_call_observation.v1', -31_999],
]);
const PROXY = 'assay-proxy';
const READABLE_VIEW = 'structured_meta_jcs';
const MAX_KEPT = 100_000;

interface Denial {
  readonly key: string;
  readonly tool: string;
  readonly at: EventPlace;
}

/** Rules of the older format about what other parts of it record. */
export const OLDER_EVENTS: Detector = {
  rules: [SOURCE_FORM, DENIAL_UNBOUND, VIEW_UNREADABLE],
  makeCheck: (report) => new OlderEventCheck(report),
};

class OlderEventCheck implements Check {
  readonly #report: Report;
  readonly #denials: Denial[] = [];
  /** By tool and target: what was decided. */
  readonly #decisions = new Map<string, Set<string>>();

  constructor(report: Report) {
    this.#report = report;
  }

  event(seen: SeenEvent): void {
    const { event, data, at } = seen;
    const { source } = event;
    if (!/^(?:urn:|https:\/\/)/.test(source))
      this.#report(SOURCE_FORM, { place: source, op: '', subject: source, at });
    const schema = toText(data['schema']);
    if (schema === DECISION_SCHEMA) this.#noteDecision(seen);
    else if (DENIALS.has(schema)) this.#noteDenial(schema, seen);
  }

  end(): void {
    for (const { key, tool, at } of this.#denials) {
      const decided = this.#decisions.get(key);
      if (decided?.has('deny')) continue;
      const detail = decided?.has('allow')
        ? 'a decision allows it'
        : 'there is no decision about it';
      this.#report(DENIAL_UNBOUND, {
        place: tool,
        op: '',
        subject: key.replace('\0', ' '),
        detail,
        at,
      });
    }
  }

  #noteDecision({ data, at }: SeenEvent): void {
    const tool = textAt(data, '/tool/name');
    const digest = textAt(data, '/action/target_digest');
    const decision = toText(data['decision']);
    if (tool !== '' && digest !== '' && this.#decisions.size < MAX_KEPT) {
      const key = `${tool}\0${digest}`;
      this.#decisions.set(key, (this.#decisions.get(key) ?? new Set()).add(decision));
    }
    if (!Object.hasOwn(data, 'approval_retained_view')) return;
    const view = toText(data['approval_retained_view']);
    if (view === READABLE_VIEW) return;
    const detail = describeView(view, textAt(data, '/approval_plaintext_commitment') !== '');
    this.#report(VIEW_UNREADABLE, {
      place: tool,
      op: '',
      subject: `${tool} ${digest}`,
      detail,
      at,
    });
  }

  #noteDenial(schema: string, { data, at }: SeenEvent): void {
    if (readPointer(data, '/caller_visible_error/code')?.value !== DENIALS.get(schema)) return;
    if (textAt(data, '/caller_visible_error/origin') !== PROXY) return;
    const tool = textAt(data, '/call/tool_name');
    const digest = textAt(data, '/call/target_digest');
    if (tool === '' || digest === '' || this.#denials.length >= MAX_KEPT) return;
    this.#denials.push({ key: `${tool}\0${digest}`, tool, at });
  }
}

function textAt(data: unknown, pointer: string): string {
  return toText(readPointer(data, pointer)?.value);
}

function describeView(view: string, isCommitted: boolean): string {
  if (view === '') return 'the view is empty or not a text';
  if (view !== 'encrypted') return `the view ${JSON.stringify(view)} is not known`;
  return isCommitted
    ? 'encrypted, with a commitment that a later disclosure can be compared with'
    : 'encrypted, without a commitment to compare a disclosure with';
}
