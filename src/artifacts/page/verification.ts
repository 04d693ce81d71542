import type { VerifiedBundle } from '../../evidence/bundle/verify-bundle.ts';
import { make, makeButton } from './elements.ts';
import { asText, type RunModel } from './model.ts';
import { showName, toVisible } from './names.ts';
import { formatCount, makeSection } from './sections.ts';

/** How the check of the embedded bundle ended. */
export type Verification =
  | { readonly isIntact: true; readonly result: VerifiedBundle; readonly tookMs: number }
  | {
      readonly isIntact: false;
      readonly code: string;
      readonly reason: string;
      readonly message: string;
      readonly place: string;
    };

/** The line at the top that is always in view. */
export function showBadge(badge: HTMLElement, verification: Verification): void {
  badge.replaceChildren(
    verification.isIntact
      ? `Verified here: ${formatCount(verification.result.checks.length, 'check')}; signer not checked`
      : `Not intact: ${toVisible(verification.code)}`,
  );
  badge.setAttribute('data-tone', verification.isIntact ? 'good' : 'bad');
}

export function makeAlarm(verification: Extract<Verification, { isIntact: false }>): HTMLElement {
  const { code, reason, message, place } = verification;
  return make('div', { class: 'alarm', role: 'alert' }, [
    make('strong', {}, ['This bundle is not intact.']),
    make('p', {}, [
      make('code', { id: 'failure-code' }, [toVisible(code)]),
      ` (${toVisible(reason)})${place === '' ? '' : ` at ${toVisible(place)}`}: `,
      showName(message, { max: 400 }),
    ]),
    make('p', {}, ['Everything below is unverified.']),
  ]);
}

export interface VerificationOptions {
  readonly model: RunModel;
  readonly verification: Verification;
  readonly archive: Uint8Array<ArrayBuffer>;
}

export function makeVerification({
  model,
  verification,
  archive,
}: VerificationOptions): HTMLElement {
  const { manifest } = model;
  const facts: [string, string][] = [
    ['Archive', `${archive.length.toLocaleString('en-US')} bytes`],
    ['SHA-256 of the archive', verification.isIntact ? verification.result.sha256 : ''],
    ['Run root', asText(manifest?.run_root)],
    ['Seal of the manifest', asText(manifest?.seal)],
    ['Events', manifest ? manifest.event_count.toLocaleString('en-US') : ''],
  ];
  return makeSection(
    {
      id: 'verification',
      title: 'Verification',
      note: 'Done by this page when it was opened, on the bundle that it carries, by the code of assay evidence verify.',
    },
    [
      verification.isIntact ? listChecks(verification) : makeAlarm(verification),
      make(
        'dl',
        { class: 'facts wide' },
        facts
          .filter(([, value]) => value !== '')
          .map(([title, value]) =>
            make('div', {}, [make('dt', {}, [title]), make('dd', {}, [showName(value)])]),
          ),
      ),
      make('p', { class: 'note' }, [
        'A page can be made to say anything. To be sure, save the bundle and run ',
        make('code', {}, ['assay evidence verify --key KEY run.bundle.tar.gz']),
        ' with an assay and a key that you trust: that also tells who signed it, which this page does not.',
      ]),
      makeButton('Save the bundle', () => saveBundle(archive), { class: 'plain-button' }),
    ],
  );
}

function listChecks({ result, tookMs }: Extract<Verification, { isIntact: true }>): HTMLElement {
  return make('div', {}, [
    make(
      'ul',
      { class: 'checks' },
      result.checks.map(({ name, detail }) =>
        make('li', {}, [
          make('span', { class: 'tick', 'aria-hidden': 'true' }, ['✓']),
          make('b', {}, [toVisible(name)]),
          make('span', { class: 'faint' }, [toVisible(detail, 300)]),
        ]),
      ),
    ),
    make('p', { class: 'note' }, [`Checked in ${(tookMs / 1000).toFixed(2)} s.`]),
  ]);
}

/** The very bytes that were checked, under a fixed name. */
function saveBundle(archive: Uint8Array<ArrayBuffer>): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([archive], { type: 'application/gzip' }));
  link.download = 'run.bundle.tar.gz';
  link.click();
  URL.revokeObjectURL(link.href);
}
