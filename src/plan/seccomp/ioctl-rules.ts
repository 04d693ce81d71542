import { EPERM, isOneOf, refuse, type Rule } from './rule.ts';

/** Requests by number; the kernel takes an `unsigned int`, so the low 32 bits are all there is. */
const REFUSED_REQUESTS: readonly number[] = [
  // TIOCSTI types into the terminal that the user's shell reads after the run.
  0x5412,
  // TIOCLINUX pastes into a virtual console.
  0x541c,
  // TIOCSETD loads line disciplines, kernel modules among them.
  0x5423,

  // The requests below change what a file is through a descriptor that only reads, and neither
  // Landlock nor a check of opened paths sees them.
  // FS_IOC_SETFLAGS and its 32-bit twin: immutable, append-only, no copy on write.
  0x40086602, 0x40046602,
  // FS_IOC_FSSETXATTR: the same flags and the quota project.
  0x401c5820,
  // FS_IOC_SETVERSION and the older number that ext4 takes.
  0x40087602, 0x40086604,
  // FS_IOC_ENABLE_VERITY makes a file read-only for good.
  0x40806685,
  // FS_IOC_SET_ENCRYPTION_POLICY makes what is put into a directory unreadable without a key.
  0x800c6613,
  // FAT_IOCTL_SET_ATTRIBUTES: read-only, hidden, system.
  0x40047211,

  // btrfs makes, copies and removes whole trees relative to a directory opened for reading:
  // SNAP_CREATE, SUBVOL_CREATE, SNAP_DESTROY, their second versions, and SUBVOL_SETFLAGS.
  0x50009401, 0x5000940e, 0x5000940f, 0x50009417, 0x50009418, 0x5000943f, 0x4008941a,
];

export const IOCTL_RULES: readonly Rule[] = [refuse('ioctl', EPERM, isOneOf(1, REFUSED_REQUESTS))];
