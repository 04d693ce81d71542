import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

import { expect, it } from 'vitest';

import { describeForEachPerson } from '../e2e/as-user.ts';
import { usePlaces } from '../e2e/place.ts';
import { PYTHON } from '../e2e/run-assay.ts';
import { eventsOf, furnish, listGaps, programLines, runRecorded } from './recorded.ts';

/** Goes down to where a path just has room for itself, and leaves things there that no path leads to in one piece. */
const PROGRAM = `
import os, shutil
top = os.open(".", os.O_RDONLY)
os.makedirs("tree/" + "branch" * 30)
open("tree/" + "branch" * 30 + "/leaf", "w").close()
shutil.copy("still", "tool")
length = len(os.getcwd())
while length < 3900:
    name = "deep" * min(50, (4050 - length) // 4 - 1)
    os.mkdir(name)
    os.chdir(name)
    length += 1 + len(name)
os.rename("tool", "tool" * 60, src_dir_fd=top)
open("file" * 60, "w").close()
os.rename("tree", "moved", src_dir_fd=top)
if os.fork() == 0:
    os.execv("./" + "tool" * 60, ["still", "exit", ""])
os.wait()
`;

describeForEachPerson('what lies deeper than a path is long', (person) => {
  const openPlace = usePlaces(person);

  it('is told by its whole name, and is there in the end', async () => {
    const place = openPlace();
    furnish(place);
    place.write('work/program.py', PROGRAM);
    const recorded = await runRecorded({ place, command: [PYTHON, 'program.py'] });
    expect(recorded.outcome).toMatchObject({ code: 0, stderr: '' });
    const created = recorded.evidence.changes.created;
    for (const name of ['file'.repeat(60), 'tool'.repeat(60), 'leaf']) {
      const found = created.find((path) => path.endsWith(`/${name}`));
      expect(found, name.slice(0, 4)).toContain('/deepdeep');
    }
    const [made] = eventsOf(recorded, 'create').filter(({ path }) => path?.endsWith('filefile'));
    const tool = made?.path?.replaceAll('file', 'tool');
    const digest = createHash('sha256')
      .update(readFileSync(place.at('work/still')))
      .digest('hex');
    expect(tool?.length).toBeGreaterThan(4095);
    expect(programLines(recorded)).toContainEqual(expect.objectContaining({ image: tool, digest }));
    expect(listGaps(recorded)).toEqual([]);
  });
});
