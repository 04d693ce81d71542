import * as fs from 'node:fs';

import { expect, it } from 'vitest';
import { parse } from 'yaml';

import type { Evidence } from '../../src/evidence/evidence.ts';

import { describeForEachPerson } from './as-user.ts';
import { usePlaces } from './place.ts';
import { runAssay } from './run-assay.ts';

/** Sets the title of a terminal, starts a line that looks like assay's own, and turns the direction of writing. */
const HOSTILE = 'x\u001b]0;title\u0007\nPolicy: trusted\r\u009b31m\u202ey';
const SHELL_HOSTILE = `h=$(printf 'x\\033]0;title\\007\\nPolicy: trusted\\r\\302\\23331m\\342\\200\\256y')`;
const CODING = ['--preset', 'coding-agent'];

function expectHarmless(text: string): void {
  // Shown, so that what follows is about something.
  expect(text).toMatch(/\\(?:u00|x)1b\\?\]0;title/);
  expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
}

function expectOneLine(text: string): void {
  expectHarmless(text);
  expect(text).not.toMatch(/^Policy: trusted/m);
}

describeForEachPerson(
  'a name with an escape sequence and a line break is shown as a name',
  (person) => {
    const makePlace = usePlaces(person);

    it('in a path that was refused', async () => {
      const place = makePlace();
      const script = `${SHELL_HOSTILE}; mkdir "$h"; : > "$h/.envrc"; exit 0`;
      const command = ['/bin/sh', '-c', `{ ${script}; } 2> /dev/null`];
      const { stderr } = await runAssay({ place, flags: CODING, command });
      expectOneLine(stderr);
      expect(place.has(`work/${HOSTILE}/.envrc`)).toBe(false);
    });

    it('in a path that was refused, and is not UTF-8, so that no flag can name it', async () => {
      const place = makePlace();
      const json = `${place.makeDir('out')}/run.ndjson`;
      const script = `n=$(printf 'caf\\351'); { echo > ~/"$n"; mkdir "$n"; echo > "$n/.npmrc"; exit 0; } 2> /dev/null`;
      const flags = [...CODING, '--json', json];
      const { stderr } = await runAssay({ place, flags, command: ['/bin/sh', '-c', script] });
      expect(stderr).toMatch(/refused: write ~\/caf\\xe9$/m);
      expect(stderr).toMatch(/refused: write \$\{CWD\}\/caf\\xe9\/\.npmrc \([^)]+\)$/m);
      const summary = JSON.parse(place.read('out/run.ndjson').trimEnd().split('\n').at(-1) ?? '');
      expect(summary).toMatchObject({
        refusals: [
          { path: `${place.home}/caf\\xe9`, allowWith: null },
          { path: `${place.work}/caf\\xe9/.npmrc`, allowWith: null },
        ],
      });
    });

    it('in a path that was set aside', async () => {
      const place = makePlace();
      const script = `${SHELL_HOSTILE}; git init -q "$h" && git -C "$h" config core.fsmonitor x`;
      const command = ['/bin/sh', '-c', script];
      const { stderr, code } = await runAssay({ place, flags: CODING, command });
      expect(code, stderr).toBe(0);
      expect(stderr).toContain('set aside');
      expectOneLine(stderr);
      expect(place.has(`work/${HOSTILE}/.git/config`)).toBe(false);
    });

    it.each(['yaml', 'json'])('in %s, and in the stream, which say what it is', async (format) => {
      const place = makePlace();
      const out = place.makeDir('out');
      const name = 'x\u007f\u009b31m\u202ey\u2066\u2028z';
      const profile = ['--profile', `${out}/p`, '--profile-format', format];
      const command = ['/bin/touch', name];
      const json = `${out}/run.ndjson`;
      await runAssay({ place, flags: [...CODING, ...profile, '--json', json], command });
      for (const file of fs.readdirSync(out))
        expect(place.read(`out/${file}`).replaceAll('\n', ''), file).not.toMatch(
          /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u,
        );
      const text = place.read(`out/p.evidence.${format}`);
      const { changes } = (format === 'yaml' ? parse(text) : JSON.parse(text)) as Evidence;
      expect(changes.created).toEqual([`\${CWD}/${name}`]);
      const lines = place.read('out/run.ndjson').trimEnd().split('\n');
      expect(lines.map((line) => (JSON.parse(line) as { path?: string }).path)).toContain(
        `${place.work}/${name}`,
      );
    });

    it('in the working directory, also when the program cannot be started', async () => {
      const place = makePlace();
      const cwd = place.makeDir(`work/${HOSTILE}`);
      for (const program of ['/bin/true', `./${HOSTILE}`]) {
        const { stderr } = await runAssay({ place, cwd, flags: CODING, command: [program] });
        expect(stderr).toContain('Workdir:');
        expectOneLine(stderr);
      }
    });

    it('in an argument, but for the line break', async () => {
      const place = makePlace();
      for (const flags of [['--policy', HOSTILE], [`--${HOSTILE}`], ['--preset', HOSTILE]]) {
        const { stderr, code } = await runAssay({ place, flags, command: ['/bin/true'] });
        expect(code).toBe(2);
        expectHarmless(stderr);
      }
      expect(fs.readdirSync(place.work)).toEqual([]);
    });
  },
);
