import { canonicalJson } from '../../core/canonical-json.ts';
import { sha256Hex } from '../../core/digest.ts';

/** So that an event that holds the command stays well below the longest line that a reader takes. */
const MAX_LENGTH = 400_000;

/** A command line that is too long for evidence ends in what the rest was, by number and digest. */
export function boundCommand(command: readonly string[]): readonly string[] {
  let room = MAX_LENGTH;
  const end = command.findIndex((word) => (room -= Buffer.byteLength(canonicalJson(word))) < 0);
  if (end < 0) return command;
  const rest = command.slice(end);
  return [
    ...command.slice(0, end),
    `[and ${rest.length} more, sha256:${sha256Hex(canonicalJson(rest))}]`,
  ];
}
