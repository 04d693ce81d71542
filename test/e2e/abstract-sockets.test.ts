import { type ChildProcessByStdio, execFileSync, spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import type { Readable, Writable } from 'node:stream';

import { expect, it } from 'vitest';
import { parse } from 'yaml';

import type { Evidence } from '../../src/evidence/evidence.ts';
import { describeForEachPerson } from './as-user.ts';
import { usePlaces } from './place.ts';
import { fixture, fixturePath, PYTHON, runAssay } from './run-assay.ts';

/** A program outside that listens by abstract names, which node itself would fill up with zeros. */
class Outsider {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  said = '';

  private constructor(names: readonly string[]) {
    this.#child = spawn(PYTHON, [fixturePath('abstract-outsider.py'), ...names], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
  }

  static listen(...names: readonly string[]): Promise<Outsider> {
    const outsider = new Outsider(names);
    return new Promise((resolve, reject) => {
      outsider.#child.on('error', reject).on('exit', () => reject(new Error(outsider.said)));
      outsider.#child.stdout.setEncoding('utf8').on('data', (text: string) => {
        outsider.said += text;
        if (outsider.said.includes('listening')) resolve(outsider);
      });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = new Promise((resolve) => this.#child.on('exit', resolve));
    this.#child.stdin.end();
    await ended;
  }
}

/** As on a kernel before 6.12 whose users may make no network namespace, and with more or less of the rest. */
const LAYERS = [
  'landlock@5,seccomp,broker,rlimits',
  'landlock@5,seccomp,broker,rlimits,user,mount,pid,ipc',
  '-net,-landlock',
  '-net',
];
const EACCES = 13;
const ECONNREFUSED = 111;

describeForEachPerson("abstract sockets in the host's network", (person) => {
  const makePlace = usePlaces(person);

  it.each(LAYERS)('are those that the run has bound itself, and no other: %s', async (layers) => {
    const place = makePlace();
    const out = place.makeDir('out');
    const mine = `assay-own-${process.pid}-${person.name}`;
    const others = `assay-others-${process.pid}-${person.name}`;
    execFileSync('mkfifo', ['-m', '666', place.at('work/go')]);
    await using foreign = await Outsider.listen(others, `${others}%`);
    let successor: Promise<Outsider> | undefined;
    const outcome = await runAssay({
      place,
      flags: ['-q', '--preset', 'coding-agent', `--layers=${layers}`, '--profile', `${out}/p.yaml`],
      command: [PYTHON, '-c', fixture('abstract-names.py'), mine, others],
      onOutput: (text) => {
        if (successor !== undefined || !text.includes('ready')) return;
        successor = Outsider.listen(mine);
        void successor.then(() => writeFile(place.at('work/go'), ''));
      },
    });
    await using last = await successor;
    expect(outcome.stdout.trim().split('\n')).toEqual([
      'stream own',
      'packets own',
      'chosen own',
      'handed on own',
      `given up ${ECONNREFUSED}`,
      `foreign ${EACCES}`,
      `longer ${EACCES}`,
      'ready',
      `taken over ${EACCES}`,
    ]);
    expect([foreign.said, last?.said]).toEqual(['listening\n', 'listening\n']);
    const { refusals, controls } = parse(place.read('out/p.evidence.yaml')) as Evidence;
    const refused = refusals.filter(({ op }) => op === 'connect').map(({ subject }) => subject);
    expect(refused).toEqual(expect.arrayContaining([`unix:@${others}`, `unix:@${others}@`]));
    expect(controls.egress).toMatchObject({ refused: 3, used: [] });
  });
});
