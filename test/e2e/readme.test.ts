import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { describeForEachPerson } from './as-user.ts';
import { makeCheckout, readBlocks, ROOT, type } from './command-blocks.ts';
import { usePlaces } from './place.ts';

const BLOCKS = readBlocks('README.md');
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};

/** Lines that depend on the machine, the person and the day. */
const VARIES = /^ *(Env:|Rules:|Limits:|Workdir:|Tmp:|Run id:)/;
/** A home below /tmp, as it is for somebody who can make none elsewhere, is not there without being refused. */
const MORE = / \(and 1 more; --json lists all\)$/;

const toLines = (text: string): string[] => {
  const lines = text.split('\n').filter((line) => !VARIES.test(line));
  return lines.map((line) => line.replace(MORE, ''));
};

const isCommand = (text: string): boolean => /^(\.\/bin\/assay\.js|echo) /.test(text);

it('README.md begins with the two commands, and has no other block than those that are tried here', () => {
  expect(BLOCKS[0]).toEqual({ kind: '', text: 'npm start\nnpm test\n' });
  expect(Object.keys(scripts)).toEqual(expect.arrayContaining(['start', 'test']));
  const others = BLOCKS.slice(1).map(({ kind, text }) => kind || (isCommand(text) ? '$' : '>'));
  expect(others.join(' ')).toBe('$ > $ > yaml $ > $ ts json');
});

describeForEachPerson('README.md', (person) => {
  const makePlace = usePlaces(person);
  it('shows commands that do in a fresh clone what it says', async () => {
    const place = await makeCheckout(makePlace());
    const codes: (number | null)[] = [];
    for (const [index, block] of BLOCKS.entries()) {
      if (!isCommand(block.text)) continue;
      const { code, stdout, stderr } = await type(place, block.text);
      codes.push(code);
      const shown = BLOCKS[index + 1];
      if (shown?.kind !== '') continue;
      const report = place.has('work/run.profile.yaml.report.md')
        ? place.read('work/run.profile.yaml.report.md')
        : '';
      const printed = toLines(`${stdout}${stderr}${report}`);
      const lines = toLines(shown.text.replaceAll('/home/sam', place.home));
      expect(printed).toEqual(expect.arrayContaining(lines));
    }
    // The first program ends with the error of its last line, and Python with what it was refused.
    expect(codes).toEqual([2, 0, 0, 1]);
  });

  it('shows a policy that loads', async () => {
    const place = await makeCheckout(makePlace());
    place.write('work/assay.yaml', BLOCKS.find(({ kind }) => kind === 'yaml')?.text);
    const { code, stdout } = await type(place, 'assay policy check assay.yaml');
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('all hold') });
  });

  it('shows how programs and MCP clients begin', async () => {
    const place = makePlace();
    const program = BLOCKS.find(({ kind }) => kind === 'ts')?.text ?? 'throw new Error()';
    const node = ['--input-type=module', '-e', program];
    expect(spawnSync(process.execPath, node, { cwd: ROOT, encoding: 'utf8' })).toMatchObject({
      status: 0,
      stderr: '',
    });
    const { mcpServers } = JSON.parse(BLOCKS.find(({ kind }) => kind === 'json')?.text ?? '') as {
      mcpServers: Record<string, { command: string; args: string[] }>;
    };
    const [server] = Object.values(mcpServers);
    const line = [server?.command, ...(server?.args ?? [])].join(' ');
    expect(await type(await makeCheckout(place), line)).toMatchObject({ code: 0, stdout: '' });
  });
});
