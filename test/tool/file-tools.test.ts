import { describe, expect, it } from 'vitest';
import { Sessions } from '../../src/tool/sessions.ts';
import { Toolset } from '../../src/tool/toolset.ts';
import { FakeBackend } from './fake-backend.ts';

describe('sandbox_read_file', () => {
  it.each([
    [3, 'aé', 4],
    [4, 'aé', 4],
    [5, 'aé', 4],
    [6, 'aé', 4],
    [7, 'aé😀', 0],
  ])(
    'with %i bytes gives whole characters, and counts what it leaves out',
    async (max, content, dropped) => {
      const backend = new FakeBackend();
      const tools = new Toolset({ backend, spec: {}, sessions: new Sessions() });
      const { structured } = await tools.call('sandbox_write_file', { path: 'a', content: 'aé😀' });
      const { session } = structured;
      const read = await tools.call('sandbox_read_file', { session, path: 'a', max_bytes: max });
      expect(read.structured).toMatchObject({ content, size_bytes: 7, truncated_bytes: dropped });
      await tools.close();
    },
  );
});
