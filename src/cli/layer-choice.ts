import { AssayError } from '../core/errors.ts';
import { ALL_LAYERS, type LayerChoice } from '../plan/layers.ts';
import { type Layer, LAYERS } from '../plan/plan.ts';

/** `-mount,-user` leaves layers out; `landlock,seccomp` keeps only these; `landlock@4` is Landlock as of ABI 4. */
export function parseLayerChoice(text: string | undefined): LayerChoice {
  if (text === undefined) return ALL_LAYERS;
  const left = new Set<Layer>();
  const out = new Set<Layer>();
  let landlockAbi: number | null = null;
  for (const entry of text.split(',').map((part) => part.trim())) {
    const [, sign = '', name = '', age] = /^(-?)([a-z]+)(?:@(\d+))?$/.exec(entry) ?? [];
    const layer = LAYERS.find((known) => known === name);
    if (!layer || (age !== undefined && layer !== 'landlock'))
      throw new AssayError(
        'E_USAGE',
        `Cannot read "${entry}" in --layers: it is not one of ${LAYERS.join(', ')}`,
        {
          hint: 'Write -NAME to leave a layer out, or NAME,NAME to keep only these',
        },
      );
    if (age !== undefined) landlockAbi = Number(age);
    if (sign) out.add(layer);
    else left.add(layer);
  }
  const isKeepList =
    left.size > 0 && !(left.size === 1 && left.has('landlock') && landlockAbi !== null);
  const kept = LAYERS.filter((layer) => (isKeepList ? left.has(layer) : true) && !out.has(layer));
  return { left: new Set(kept), landlockAbi };
}
