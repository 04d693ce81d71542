/* On the host, for root: a directory whose owner is somebody else inside of a container, and only there. */
#define _GNU_SOURCE
#include "steward.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Of kernels from 5.12 on; headers may be older. */
#define OPEN_TREE_CLONE_FLAG 1
#define MOUNT_ATTR_NOSUID_FLAG 2u
#define MOUNT_ATTR_NODEV_FLAG 4u
#define MOUNT_ATTR_IDMAP_FLAG 0x100000u
#define MOVE_FROM_FD 4
#ifndef SYS_open_tree
#define SYS_open_tree 428
#define SYS_move_mount 429
#endif
#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif

struct attributes {
  uint64_t set, clear, propagation, userns_fd;
};

static int write_map(pid_t pid, const char *name, const char *text) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
  int fd = open(path, O_WRONLY | O_CLOEXEC), error = 0;
  if (fd < 0 || write(fd, text, strlen(text)) < 0) error = errno;
  if (fd >= 0) close(fd);
  return error;
}

/* A user namespace that is nothing but two maps: from the owner on disk to whom it is inside. */
static int open_namespace(const char *uids, const char *gids, int *out) {
  int ready[2];
  char byte, path[64];
  if (pipe2(ready, O_CLOEXEC)) return errno;
  pid_t pid = fork();
  if (pid < 0) return errno;
  if (pid == 0) {
    byte = unshare(CLONE_NEWUSER) ? (char)errno : 0;
    if (write(ready[1], &byte, 1) == 1)
      for (;;) pause();
    _exit(1);
  }
  close(ready[1]);
  int error = read(ready[0], &byte, 1) == 1 ? byte : EIO;
  if (!error) error = write_map(pid, "uid_map", uids);
  if (!error) error = write_map(pid, "gid_map", gids);
  snprintf(path, sizeof path, "/proc/%d/ns/user", pid);
  if (!error && (*out = open(path, O_RDONLY | O_CLOEXEC)) < 0) error = errno;
  kill(pid, SIGKILL);
  waitpid(pid, NULL, 0);
  close(ready[0]);
  return error;
}

/* SOURCE TARGET UID-MAP GID-MAP, where a map is "ON-DISK INSIDE 1". */
int map_directory(char **arguments) {
  struct attributes attributes = {.set = MOUNT_ATTR_IDMAP_FLAG | MOUNT_ATTR_NOSUID_FLAG | MOUNT_ATTR_NODEV_FLAG};
  int namespace = -1, error = open_namespace(arguments[2], arguments[3], &namespace);
  const char *what = "user namespace";
  if (!error) {
    attributes.userns_fd = (uint64_t)namespace;
    what = arguments[0];
    int tree = (int)syscall(SYS_open_tree, AT_FDCWD, arguments[0], OPEN_TREE_CLONE_FLAG | O_CLOEXEC);
    if (tree < 0 || syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH, &attributes, sizeof attributes) ||
        syscall(SYS_move_mount, tree, "", AT_FDCWD, arguments[1], MOVE_FROM_FD))
      error = errno;
  }
  if (error) dprintf(STDERR_FILENO, "%s: %s\n", what, strerror(error));
  return error != 0;
}

/* Whoever holds it open keeps it; nobody else finds it any more. */
int unmap_directory(const char *target) {
  if (umount2(target, MNT_DETACH) == 0) return 0;
  dprintf(STDERR_FILENO, "%s: %s\n", target, strerror(errno));
  return 1;
}
