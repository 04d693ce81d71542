import { EPERM, ENOSYS, hasAny, isNoneOf, isNonNull, isOneOf, refuse, type Rule } from './rule.ts';

/** CLONE_NEWTIME, NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
const NEW_NAMESPACE = 0x7e020080;
/** PER_LINUX32, UNAME26 and ADDR_NO_RANDOMIZE change nothing but the caller's own image. */
const HARMLESS_PERSONALITY = 0x00060008;
const QUERY_PERSONALITY = 0xffffffff;
const PR_SET_MM = 35;

/**
 * Refused in every run. EPERM where a program expects to lack the privilege; ENOSYS where programs
 * fall back to an older call, or where the kernel itself can be built without the call.
 */
export const REFUSALS: readonly Rule[] = [
  // Its flags lie in memory, out of the filter's sight; libraries then use clone, which shows them.
  refuse('clone3', ENOSYS),
  // A new user namespace hands out capabilities, and with them most of the kernel's attack surface.
  refuse('clone', EPERM, hasAny(0, NEW_NAMESPACE)),
  // As clone; unsharing files or the working directory stays possible.
  refuse('unshare', EPERM, hasAny(0, NEW_NAMESPACE)),
  // Enters a namespace of another process.
  refuse('setns', EPERM),

  // Takes over another process, the broker's answers to it included.
  refuse('ptrace', EPERM),
  // Reads another process's memory without ptrace.
  refuse('process_vm_readv', EPERM),
  // Writes another process's memory without ptrace.
  refuse('process_vm_writev', EPERM),
  // Evicts another process's pages; allocators that use it on themselves go on without.
  refuse('process_madvise', EPERM),
  // Copies a descriptor out of another process.
  refuse('pidfd_getfd', EPERM),
  // Compares kernel objects of two processes, which reveals their order in kernel memory.
  refuse('kcmp', EPERM),
  // Moves pages of another process; 0 is the caller itself.
  refuse('move_pages', EPERM, isNoneOf(0, [0])),
  // As move_pages.
  refuse('migrate_pages', EPERM, isNoneOf(0, [0])),
  // Sets limits of any process of the same user: a CPU limit would kill the supervisor. Reading is fine.
  refuse('prlimit64', EPERM, isNoneOf(0, [0]), isNonNull(2)),
  // Moves the argument and environment areas, so that /proc tells a false story of the program.
  refuse('prctl', EPERM, isOneOf(0, [PR_SET_MM])),

  // Changes the file view that the boundary is built on.
  refuse('mount', EPERM),
  // Would uncover what a mask hides.
  refuse('umount2', EPERM),
  // Replaces the root directory.
  refuse('pivot_root', EPERM),
  // Gives paths another meaning than the broker takes them to have.
  refuse('chroot', EPERM),
  // Attaches a detached mount.
  refuse('move_mount', EPERM),
  // Starts a file system context: the newer mount.
  refuse('fsopen', EPERM),
  // Configures a file system context.
  refuse('fsconfig', EPERM),
  // Mounts a file system context.
  refuse('fsmount', EPERM),
  // Reconfigures a mounted file system.
  refuse('fspick', EPERM),
  // Clones a mount tree without what covers it.
  refuse('open_tree', EPERM),
  // As open_tree, with attributes.
  refuse('open_tree_attr', EPERM),
  // Makes a read-only mount writable.
  refuse('mount_setattr', EPERM),
  // Describes mounts of other namespaces; tools fall back to /proc/self/mountinfo.
  refuse('statmount', ENOSYS),
  // As statmount.
  refuse('listmount', ENOSYS),

  // Opens, connects and renames without passing this filter.
  refuse('io_uring_setup', ENOSYS),
  // Submits to a ring that came in by another way.
  refuse('io_uring_enter', ENOSYS),
  // As io_uring_enter.
  refuse('io_uring_register', ENOSYS),

  // Keyrings belong to the user, not to the sandbox: keys outside could be read and planted.
  refuse('add_key', EPERM),
  // As add_key, and it starts a program outside.
  refuse('request_key', EPERM),
  // As add_key.
  refuse('keyctl', EPERM),

  // Loads code into the kernel.
  refuse('bpf', EPERM),
  // Watches the kernel and other processes; a frequent source of kernel bugs.
  refuse('perf_event_open', EPERM),
  // Holds the kernel inside a memory access for as long as wanted, which widens races.
  refuse('userfaultfd', EPERM),
  // Reports file activity of other processes.
  refuse('fanotify_init', EPERM),
  // As fanotify_init.
  refuse('fanotify_mark', EPERM),
  // Opens a file by inode number, whatever its path.
  refuse('open_by_handle_at', EPERM),

  // Replaces the running kernel.
  refuse('kexec_load', EPERM),
  // As kexec_load.
  refuse('kexec_file_load', EPERM),
  // Loads a kernel module.
  refuse('init_module', EPERM),
  // As init_module.
  refuse('finit_module', EPERM),
  // Unloads a kernel module.
  refuse('delete_module', EPERM),

  // The rest administers the machine. No capability is left for it; this is the second lock.
  // Makes the kernel write to a file of the caller's choice whenever a process ends.
  refuse('acct', EPERM),
  // Lets the kernel write memory to a file.
  refuse('swapon', EPERM),
  // Takes swap away from everyone.
  refuse('swapoff', EPERM),
  // Stops the machine.
  refuse('reboot', EPERM),
  // Sets the clock of the machine.
  refuse('settimeofday', EPERM),
  // As settimeofday.
  refuse('clock_settime', EPERM),
  // Bends the clock of the machine; whether it only reads is out of the filter's sight.
  refuse('clock_adjtime', EPERM),
  // As clock_adjtime.
  refuse('adjtimex', EPERM),
  // Renames the machine.
  refuse('sethostname', EPERM),
  // As sethostname.
  refuse('setdomainname', EPERM),
  // Reaches hardware ports.
  refuse('iopl', EPERM),
  // As iopl.
  refuse('ioperm', EPERM),
  // Changes disk quotas.
  refuse('quotactl', EPERM),
  // As quotactl.
  refuse('quotactl_fd', EPERM),
  // Reads the kernel log, which shows addresses and other programs' troubles.
  refuse('syslog', EPERM),
  // Hangs up the terminal that the caller shares with the user's shell.
  refuse('vhangup', EPERM),

  // Gone from current kernels, was an interface to the NFS server.
  refuse('nfsservctl', ENOSYS),
  // Names files by a profiling cookie; gone from current kernels.
  refuse('lookup_dcookie', ENOSYS),
  // Maps a library by path: an open that no rule sees.
  refuse('uselib', ENOSYS),
  // Looks into any mounted device by number; statfs does it by path.
  refuse('ustat', ENOSYS),
  // Lists file system types; replaced by /proc/filesystems.
  refuse('sysfs', ENOSYS),
  // Writes kernel settings without opening /proc/sys.
  refuse('_sysctl', ENOSYS),
  // Installs 16-bit code segments, the base of several kernel exploits.
  refuse('modify_ldt', ENOSYS),
  // Other execution domains reach old and little-tested code, or map page zero.
  refuse(
    'personality',
    EPERM,
    hasAny(0, ~HARMLESS_PERSONALITY >>> 0),
    isNoneOf(0, [QUERY_PERSONALITY]),
  ),
];
