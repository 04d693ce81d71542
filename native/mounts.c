/* The files of one sandbox that outlive a call. */
#define _GNU_SOURCE
#include "serve.h"
#include "uapi.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mount.h>
#include <unistd.h>

static void mount_own(const char *path, uint64_t bytes, uint64_t inodes) {
  char options[128];
  snprintf(options, sizeof options, "size=%llu,nr_inodes=%llu,mode=0700", (unsigned long long)bytes, (unsigned long long)inodes);
  if (mount("assay", path, "tmpfs", MS_NOSUID | MS_NODEV, options)) die_errno("mount", path);
}

static void mount_host(int opener, const struct setup *setup, const char *host) {
  struct mount_attr_abi attr = {.attr_set = MOUNT_ATTR_NOSUID_ | MOUNT_ATTR_NODEV_};
  if (setup->workspace == WORKSPACE_READ_ONLY) attr.attr_set |= MOUNT_ATTR_RDONLY_;
  int fd = ask_for_mount(opener, host);
  if (fd < 0 || syscall(SYS_mount_setattr, fd, "", AT_EMPTY_PATH | AT_RECURSIVE_, &attr, sizeof attr) ||
      syscall(SYS_move_mount, fd, "", AT_FDCWD, WORKSPACE, MOVE_MOUNT_F_EMPTY_PATH_))
    die_errno("workspace", host);
  close(fd);
}

void mount_files(int opener, const struct setup *setup, const char *host) {
  mount_own(TEMPORARY, setup->tmp_bytes, setup->tmp_inodes);
  if (setup->workspace == WORKSPACE_OWN) mount_own(WORKSPACE, setup->work_bytes, setup->work_inodes);
  else mount_host(opener, setup, host);
  if (setup->has_terminals &&
      mount("devpts", "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620"))
    die_errno("mount", "/dev/pts");
}
