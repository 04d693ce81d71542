import { find, make } from './elements.ts';
import { readEmbedded } from './embedded.ts';
import { EventList } from './event-list.ts';
import type { RunModel } from './model.ts';
import { toVisible } from './names.ts';
import { makeOverview } from './overview.ts';
import { preparePrint } from './paper.ts';
import { makePolicy } from './policy-section.ts';
import { makePrograms } from './programs.ts';
import { makeSection, SECTIONS, type SectionId } from './sections.ts';
import { makeChanges, makeCoverage, makeEnvironment, makeNetwork, makeRefusals } from './tables.ts';
import { prepareTheme } from './theme.ts';
import { Treemap } from './treemap.ts';
import { makeAlarm, makeVerification, showBadge, type Verification } from './verification.ts';
import { verifyEmbedded } from './verify-embedded.ts';

async function main(): Promise<void> {
  prepareTheme(find('theme'));
  // A page around this one could cover parts of it.
  if (window.top !== window.self) {
    find('status').textContent = 'This page does not work inside of another page.';
    return;
  }
  const archive = readEmbedded(find('bundle'));
  const { model, verification } = await verifyEmbedded(archive, (share) => {
    find('progress').setAttribute('value', share.toFixed(3));
  });
  showRun({ model, verification, archive });
}

interface Shown {
  readonly model: RunModel;
  readonly verification: Verification;
  readonly archive: Uint8Array<ArrayBuffer>;
}

function showRun({ model, verification, archive }: Shown): void {
  const { isIntact } = verification;
  document.documentElement.classList.toggle('is-unverified', !isIntact);
  document.title = isIntact ? `assay: ${model.manifest?.run_id ?? ''}` : 'assay: not intact';
  showBadge(find('badge'), verification);
  const events = new EventList(model.rows);
  const treemap = new Treemap({
    rows: model.rows,
    onPick: (path) => events.showOnly(path, { kinds: new Set(['file']) }),
  });
  const parts: Readonly<Record<SectionId, HTMLElement>> = {
    programs: makePrograms({ model, onPick: (image) => events.showOnly(image) }),
    files: makeSection(
      {
        id: 'files',
        title: 'Files',
        note: 'Touched files by directory: the area is their number, the colour the gravest of what was done to each. Click, or press Enter, to go deeper.',
      },
      [treemap.element],
    ),
    network: makeNetwork(model),
    refusals: makeRefusals(model),
    changes: makeChanges(model),
    coverage: makeCoverage(model),
    policy: makePolicy(model),
    environment: makeEnvironment(model),
    events: events.element,
    verification: makeVerification({ model, verification, archive }),
  };
  const overview = makeOverview({
    model,
    isVerified: isIntact,
    isOlderFormat: isIntact && verification.result.kind === 'upstream',
  });
  find('content').replaceChildren(
    ...(isIntact ? [] : [makeAlarm(verification)]),
    ...overview,
    ...Object.values(parts),
  );
  find('contents').replaceChildren(...makeContents());
  preparePrint(events);
  prepareKeys(events);
  treemap.draw();
  document.documentElement.classList.add('is-ready');
}

function makeContents(): HTMLElement[] {
  return Object.entries(SECTIONS).map(([id, title]) =>
    make('li', {}, [make('a', { href: `#${id}` }, [title])]),
  );
}

function prepareKeys(events: EventList): void {
  document.addEventListener('keydown', (event) => {
    const isTyping =
      event.target instanceof Element && event.target.matches('input, select, textarea');
    if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    events.focusSearch();
  });
}

main().catch((error: unknown) => {
  document.documentElement.classList.add('is-unverified', 'is-ready');
  find('content').replaceChildren(
    make('p', { class: 'alarm', role: 'alert' }, [
      `This page could not show the bundle: ${toVisible(String(error), 400)}`,
    ]),
  );
});
