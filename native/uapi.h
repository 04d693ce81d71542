/* Kernel constants and structures that distribution headers may lack. From the kernel's stable user API. */
#ifndef ASSAY_UAPI_H
#define ASSAY_UAPI_H

#include <linux/seccomp.h>
#include <stdint.h>
#include <sys/syscall.h>

/* Calls added since 5.1 have one number on every architecture. */
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif
#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif
#ifndef SYS_open_tree
#define SYS_open_tree 428
#endif
#ifndef SYS_move_mount
#define SYS_move_mount 429
#endif
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif
#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif
#ifndef SYS_setxattrat
#define SYS_setxattrat 463
#define SYS_removexattrat 466
#endif
#ifndef SYS_file_setattr
#define SYS_file_setattr 469
#endif

struct ll_ruleset_attr {
  uint64_t handled_access_fs, handled_access_net, scoped;
};
struct __attribute__((packed)) ll_path_beneath_attr {
  uint64_t allowed_access;
  int32_t parent_fd;
};
struct ll_net_port_attr {
  uint64_t allowed_access, port;
};
#define LL_CREATE_RULESET_VERSION 1u
#define LL_RULE_PATH_BENEATH 1
#define LL_RULE_NET_PORT 2
/* The rights that may be given to something that is not a directory. */
#define LL_FS_EXECUTE (1ull << 0)
#define LL_FS_WRITE_FILE (1ull << 1)
#define LL_FS_READ_FILE (1ull << 2)
#define LL_FS_REFER (1ull << 13)
#define LL_SCOPE_ABSTRACT 1u
#define LL_FS_TRUNCATE (1ull << 14)
#define LL_FS_IOCTL_DEV (1ull << 15)
#define LL_FILE_RIGHTS \
  (LL_FS_EXECUTE | LL_FS_WRITE_FILE | LL_FS_READ_FILE | LL_FS_TRUNCATE | LL_FS_IOCTL_DEV)

struct open_how_abi {
  uint64_t flags, mode, resolve;
};
#define RESOLVE_NO_MAGICLINKS_ 0x02
#define RESOLVE_NO_SYMLINKS_ 0x04

struct mount_attr_abi {
  uint64_t attr_set, attr_clr, propagation, userns_fd;
};
#define MOUNT_ATTR_RDONLY_ 0x01
#define MOUNT_ATTR_NOSUID_ 0x02
#define MOUNT_ATTR_NODEV_ 0x04
#define MOUNT_ATTR_NOEXEC_ 0x08
#define OPEN_TREE_CLONE_ 1
#define OPEN_TREE_CLOEXEC_ 02000000
#define MOVE_MOUNT_F_EMPTY_PATH_ 0x04
#define AT_RECURSIVE_ 0x8000

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif
#ifndef SECCOMP_ADDFD_FLAG_SEND
#define SECCOMP_ADDFD_FLAG_SEND (1UL << 1)
#endif
#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, uint64_t)
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (1UL << 0)
#endif

/* The number of the mount, which struct statx of older headers does not name: by its place in 64-bit words. */
#define STATX_MNT_ID_ 0x1000u
#define STATX_MNT_ID_WORD 18

#define PROC_MAGIC 0x9fa0
#define PIDFD_THREAD_ 0200 /* O_EXCL, since 6.9 */

#endif
