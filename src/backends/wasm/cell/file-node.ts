export interface FileNode {
  readonly kind: 'file';
  readonly ino: number;
  bytes: Uint8Array<ArrayBuffer>;
  sizeBytes: number;
  modifiedMs: number;
  /** Names that lead to it, and descriptors that are open on it: what has neither is no longer counted. */
  links: number;
  opens: number;
  /** Its content comes from a program inside, not from whoever made the sandbox. */
  isFromInside: boolean;
}

export interface DirectoryNode {
  readonly kind: 'directory';
  readonly ino: number;
  readonly entries: Map<string, TreeNode>;
  modifiedMs: number;
  parent: DirectoryNode | undefined;
  /** Directories above it. */
  depth: number;
  isReadOnly: boolean;
}

export interface LinkNode {
  readonly kind: 'link';
  readonly ino: number;
  readonly target: string;
  modifiedMs: number;
}

export type TreeNode = FileNode | DirectoryNode | LinkNode;

export interface TreeStat {
  readonly kind: TreeNode['kind'];
  readonly ino: number;
  readonly sizeBytes: number;
  readonly modifiedMs: number;
}

export function statNode(node: TreeNode): TreeStat {
  const { kind, ino, modifiedMs } = node;
  const sizeBytes =
    node.kind === 'file'
      ? node.sizeBytes
      : node.kind === 'link'
        ? Buffer.byteLength(node.target)
        : 0;
  return { kind, ino, sizeBytes, modifiedMs };
}
