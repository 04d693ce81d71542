import { contentOf, type Overlay } from './overlay.ts';
import type { Change } from './path-verdict.ts';

/** Does to the tree what was done in the run. */
export function applyChange(overlay: Overlay, event: Change): void {
  const { op, path, target = '', isDirectory = false, isReplacing = false, move } = event;
  switch (op) {
    case 'create':
    case 'mknod':
    case 'symlink':
    case 'mkdir':
      overlay.create(path, { isDirectory: op === 'mkdir' });
      return;
    case 'unlink':
    case 'rmdir':
      overlay.remove(path, op === 'rmdir');
      return;
    case 'rename':
      if (move === 'exchange') overlay.exchange(path, target, { isDirectory });
      else if (move === 'back') overlay.noteReturn(path, target, { isDirectory });
      else overlay.rename(path, target, { isDirectory, isReplacing });
      return;
    case 'link':
      overlay.link(path, target);
      return;
    case 'write':
    case 'truncate':
      contentOf(overlay.touch(path)).isWritten = true;
      return;
    default: {
      // By a descriptor, of a file that lost this name and may have others.
      const gone = overlay.find(path);
      if (gone?.isThere === false && gone.content) gone.content.hasNewAttributes = true;
      const node = overlay.touch(path);
      contentOf(node).hasNewAttributes = true;
      if (isDirectory) overlay.markDirectory(node);
    }
  }
}
