import { expect, it } from 'vitest';

import { LAYERS } from '../../src/plan/plan.ts';
import { describeForEachPerson } from './as-user.ts';
import { type Place, usePlaces } from './place.ts';
import { ASSAY, fixturePath, PYTHON, runBare } from './run-assay.ts';

type Status = Readonly<Record<string, string>>;

interface Told {
  readonly layers: Status;
  readonly reasons: Readonly<Record<string, string>>;
}

/** What is lost with each ceiling at 0, for somebody without privileges and for root of that host. */
const CEILINGS: readonly (readonly [kind: string, ordinary: string[], root: string[]])[] = [
  ['user', ['user', 'mount', 'pid', 'ipc', 'net', 'nft'], ['user']],
  ['mnt', ['mount', 'pid'], ['mount', 'pid']],
  ['pid', ['pid'], ['pid']],
  ['ipc', ['ipc'], ['ipc']],
  ['net', ['net', 'nft'], ['net', 'nft']],
];

describeForEachPerson('a host whose ceiling for one kind of namespace is 0', (person) => {
  const makePlace = usePlaces(person);

  async function run(place: Place, host: readonly [uid: number, kind: string], words: string[]) {
    const [uid, kind] = host;
    const command = [PYTHON, fixturePath('restricted-host.py'), String(uid), kind, ASSAY, ...words];
    return await runBare({ place, command });
  }

  /** Lines such as `  pid       absent (why)`, of the banner and of the doctor. */
  function readLayers(text: string): Told {
    const rows = [...text.matchAll(/^ {2}([a-z]+) +(enforced|partial|absent)(.*)$/gm)].filter(
      ([, name]) => LAYERS.some((layer) => layer === name && layer !== 'cgroup'),
    );
    return {
      layers: Object.fromEntries(rows.map(([, layer = '', status = '']) => [layer, status])),
      reasons: Object.fromEntries(rows.map(([, layer = '', , reason = '']) => [layer, reason])),
    };
  }

  it.each(
    CEILINGS.flatMap(([kind, ordinary, root]) => [
      { kind, uid: 54_321, lost: ordinary },
      { kind, uid: 0, lost: root },
    ]),
  )('$kind, for uid $uid: costs $lost, and the doctor says what the run says', async (one) => {
    const { kind, uid, lost } = one;
    const place = makePlace();
    const words = ['sandbox', '--preset', 'coding-agent', '--verbose', '--', '/bin/true'];
    const ran = await run(place, [uid, kind], words);
    expect(ran).toMatchObject({ code: 0 });
    const told = readLayers(ran.stderr);
    expect(Object.keys(told.layers).filter((layer) => told.layers[layer] === 'absent')).toEqual(
      lost,
    );
    const doctor = readLayers((await run(place, [uid, kind], ['doctor'])).stdout);
    expect(doctor.layers).toEqual(told.layers);
    // Only the kind that is missing is blamed on its ceiling; what stands on it says so.
    const first = lost[0] ?? '';
    expect(told.reasons[first]).toContain(`user.max_${kind}_namespaces`);
    for (const layer of lost.slice(1)) expect(told.reasons[layer]).toContain('needs a');
  });
});
