import { make, makePill } from './elements.ts';
import { asList, asObject, asText, type RunModel } from './model.ts';
import { showName, toVisible, toVisibleLines } from './names.ts';
import { makeEmpty, makeSection, makeTable } from './sections.ts';

/** Rules that say the same of different things. */
interface RuleGroup {
  readonly title: string;
  readonly effect: string;
  readonly texts: string[];
}

const MAX_OPEN = 12;

const EFFECT_TONES: ReadonlyMap<string, string> = new Map([
  ['allow', 'good'],
  ['deny', 'bad'],
]);

/** Everything that was in force: rules by what they do, and the whole as it stands in the bundle. */
export function makePolicy(model: RunModel): HTMLElement {
  const { policy } = model;
  if (!policy)
    return makeSection({ id: 'policy', title: 'Policy' }, [
      makeEmpty(model, 'No policy is in this bundle.'),
    ]);
  const groups = groupRules(asObject(policy.policy));
  return makeSection(
    {
      id: 'policy',
      title: 'Policy',
      note: 'Everything that was in force, presets and flags included.',
    },
    [
      make('dl', { class: 'facts' }, [
        make('div', {}, [
          make('dt', {}, ['Name']),
          make('dd', {}, [showName(asText(policy.name))]),
        ]),
        make('div', {}, [
          make('dt', {}, ['Digest']),
          make('dd', {}, [showName(asText(policy.digest))]),
        ]),
      ]),
      groups.length === 0
        ? undefined
        : makeTable({
            caption: 'Rules in force',
            columns: ['Rule', 'Effect', 'Of what'],
            items: groups,
            makeCells: ({ title, effect, texts }) => [
              toVisible(title, 40),
              makePill(toVisible(effect, 40), EFFECT_TONES.get(effect) ?? 'plain'),
              listTexts(texts),
            ],
          }),
      make('details', { class: 'as-json' }, [
        make('summary', {}, ['The policy as JSON']),
        make('pre', { class: 'json', tabindex: '0', 'aria-label': 'The policy as JSON' }, [
          toVisibleLines(JSON.stringify(policy.policy ?? null, null, 2)),
        ]),
      ]),
    ],
  );
}

function groupRules(policy: Readonly<Record<string, unknown>>): RuleGroup[] {
  const groups = new Map<string, RuleGroup>();
  for (const [part, value] of Object.entries(policy))
    for (const rule of asList(value).map(asObject)) {
      const effect = asText(rule['effect']);
      const text = asText(rule['text'] ?? rule['pattern']);
      if (effect === '' || text === '') continue;
      const title = asText(rule['key'] ?? part);
      const key = `${title}\n${effect}`;
      const group = groups.get(key) ?? { title, effect, texts: [] };
      groups.set(key, group);
      group.texts.push(text);
    }
  return [...groups.values()];
}

function listTexts(texts: readonly string[]): HTMLElement {
  const list = make(
    'ul',
    { class: 'in-line' },
    texts.map((text) => make('li', {}, [showName(text, { max: 120 })])),
  );
  if (texts.length <= MAX_OPEN) return list;
  const first = make('span', {}, [
    showName(texts[0] ?? '', { max: 60 }),
    ` and ${texts.length - 1} more`,
  ]);
  return make('details', {}, [make('summary', {}, [first]), list]);
}
