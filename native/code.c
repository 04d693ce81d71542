/* Code that is handed over for a call: programs read it and cannot change it. What fails returns its error. */
#define _GNU_SOURCE
#include "serve.h"
#include "uapi.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int code_place = -1;

/* A file system that is written to below, and seen read-only from above. */
void make_code_place(void) {
  if (mount("assay", CODE_PLACE, "tmpfs", MS_NOSUID | MS_NODEV, "size=64m,nr_inodes=1024,mode=0755")) die_errno("mount", CODE_PLACE);
  code_place = open(CODE_PLACE, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  int seen = (int)syscall(SYS_open_tree, AT_FDCWD, CODE_PLACE, OPEN_TREE_CLONE_ | OPEN_TREE_CLOEXEC_);
  struct mount_attr_abi attr = {.attr_set = MOUNT_ATTR_RDONLY_ | MOUNT_ATTR_NOSUID_ | MOUNT_ATTR_NODEV_};
  if (code_place < 0 || seen < 0 || syscall(SYS_mount_setattr, seen, "", AT_EMPTY_PATH, &attr, sizeof attr) ||
      syscall(SYS_move_mount, seen, "", AT_FDCWD, CODE_PLACE, MOVE_MOUNT_F_EMPTY_PATH_))
    die_errno("mount", CODE_PLACE); /* half of it would be writable */
  close(seen);
}

static bool is_code_name(const char *name) { return *name && !strchr(name, '/') && name[0] != '.'; }

/* A program may be started before its code is there: it waits where it opens it, at a FIFO of that name; which goes again
   if the code never comes. */
int hold_code(const char *name, bool is_held) {
  if (!is_code_name(name)) return EINVAL;
  unlinkat(code_place, name, 0);
  return is_held && mkfifoat(code_place, name, 0600) ? errno : 0;
}

/* Whoever waits there is let go, sees that the name leads elsewhere by now, and opens it again. Open for both, no other
   end is needed, and one who is only about to wait finds it open. */
static void let_go(int held) {
  static int opened = -1;
  char link[32];
  if (opened >= 0) close(opened);
  snprintf(link, sizeof link, "/proc/self/fd/%d", held);
  opened = open(link, O_RDWR | O_NONBLOCK | O_CLOEXEC);
}

int put_code(const char *name, const char *bytes, size_t len) {
  struct stat st;
  if (!is_code_name(name)) return EINVAL;
  unlinkat(code_place, ".new", 0);
  int fd = openat(code_place, ".new", O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0444);
  if (fd < 0) return errno;
  int error = write_whole(fd, bytes, len);
  close(fd);
  int held = openat(code_place, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (!error && renameat(code_place, ".new", code_place, name)) error = errno;
  if (held >= 0 && !fstat(held, &st) && S_ISFIFO(st.st_mode)) let_go(held);
  if (held >= 0) close(held);
  return error;
}
