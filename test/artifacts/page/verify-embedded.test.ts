import { beforeAll, describe, expect, it, vi } from 'vitest';
import { Inflater as PageInflater } from '../../../src/artifacts/page/platform/inflate.ts';
import { Sha256 } from '../../../src/artifacts/page/platform/sha256.ts';
import { openSha256 } from '../../../src/core/digest.ts';
import { Inflater } from '../../../src/core/inflate.ts';
import { BundleError } from '../../../src/evidence/bundle/bundle-error.ts';
import { verifyBundle } from '../../../src/evidence/bundle/verify-bundle.ts';
import { BAD_BUNDLES } from '../../evidence/bundle/bad-bundles.ts';
import { makeSampleBundle } from '../../evidence/bundle/sample-run.ts';

// As the build of the page does.
vi.mock(
  import('../../../src/core/digest.ts'),
  () => import('../../../src/artifacts/page/platform/digest.ts'),
);
vi.mock(
  import('../../../src/core/utf8.ts'),
  () => import('../../../src/artifacts/page/platform/utf8.ts'),
);
vi.mock('../../../src/core/inflate.ts', async (importOriginal) => ({
  ...(await importOriginal<object>()),
  ...(await import('../../../src/artifacts/page/platform/inflate.ts')),
}));

async function judge(bundle: Uint8Array, options = {}): Promise<string> {
  // The page gives all at once.
  async function* giveOnce(): AsyncGenerator<Uint8Array> {
    yield await Promise.resolve(bundle);
  }
  try {
    return (await verifyBundle(giveOnce(), options)).kind;
  } catch (error) {
    if (error instanceof BundleError) return error.code;
    throw error;
  }
}

describe('the verifier with what stands in for Node in the page', () => {
  let good: Buffer;
  beforeAll(async () => {
    good = await makeSampleBundle();
  });

  it('is really without Node', () => {
    expect(openSha256()).toBeInstanceOf(Sha256);
    expect(new Inflater()).toBeInstanceOf(PageInflater);
  });

  it('takes a good bundle', async () => {
    expect(await judge(good)).toBe('sandbox');
  });

  it.each(BAD_BUNDLES)(
    'refuses $name: $code, as on the command line',
    async ({ make, code, limits }) => {
      expect(await judge(make(good), { limits })).toBe(code);
    },
  );
});
