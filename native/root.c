/* The tree of files that every sandbox starts from: made once, by steps that assay has listed. */
#define _GNU_SOURCE
#include "serve.h"
#include "uapi.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define TREE "/tmp"

enum step_kind { STEP_DIRECTORY = 'd', STEP_LINK = 'l', STEP_BIND = 'b', STEP_FILE = 'f' };

/* One step: its path inside, and where it leads, what it shows, or what it says. */
struct step {
  uint32_t kind, flags, path_len, data_len;
};

struct parsed {
  struct step head;
  char path[PATH_CAP];
  const char *data;
};

static const char *take_step(const char *at, const char *end, struct parsed *out) {
  if ((size_t)(end - at) < sizeof out->head) die("serve", "step is too short");
  memcpy(&out->head, at, sizeof out->head);
  at += sizeof out->head;
  if (out->head.path_len + sizeof TREE > sizeof out->path || (size_t)(end - at) < (size_t)out->head.path_len + out->head.data_len)
    die("serve", "step is too long");
  snprintf(out->path, sizeof out->path, TREE "%.*s", (int)out->head.path_len, at);
  out->data = at + out->head.path_len;
  return out->data + out->head.data_len;
}

static char *copy_data(const struct parsed *step) {
  char *text = strndup(step->data, step->head.data_len);
  if (!text) die("serve", "out of memory");
  return text;
}

static int open_source(const struct parsed *step) {
  char *source = copy_data(step);
  int fd = (int)syscall(SYS_open_tree, AT_FDCWD, source, OPEN_TREE_CLONE_ | OPEN_TREE_CLOEXEC_ | AT_RECURSIVE_);
  struct mount_attr_abi attr = {.attr_set = step->head.flags};
  if (fd < 0 || (attr.attr_set && syscall(SYS_mount_setattr, fd, "", AT_EMPTY_PATH | AT_RECURSIVE_, &attr, sizeof attr)))
    die_errno("serve", source);
  free(source);
  return fd;
}

static void write_text(const struct parsed *step) {
  int fd = open(step->path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
  if (fd < 0 || fchmod(fd, 0644) || write(fd, step->data, step->head.data_len) != (ssize_t)step->head.data_len)
    die_errno("serve", step->path);
  close(fd);
}

static void place_source(const struct parsed *step, int fd) {
  struct stat st;
  if (fstat(fd, &st)) die_errno("serve", step->path);
  if (S_ISDIR(st.st_mode) ? mkdir(step->path, 0755) && errno != EEXIST : mknod(step->path, S_IFREG | 0644, 0) && errno != EEXIST)
    die_errno("serve", step->path);
  if (syscall(SYS_move_mount, fd, "", AT_FDCWD, step->path, MOVE_MOUNT_F_EMPTY_PATH_)) die_errno("serve", step->path);
  close(fd);
}

static void perform_step(const struct parsed *step, int fd) {
  if (step->head.kind == STEP_DIRECTORY) {
    if (mkdir(step->path, 0755) || chmod(step->path, step->head.flags)) die_errno("serve", step->path);
  } else if (step->head.kind == STEP_LINK) {
    char *target = copy_data(step);
    if (symlink(target, step->path)) die_errno("serve", step->path);
    free(target);
  } else if (step->head.kind == STEP_BIND) place_source(step, fd);
  else if (step->head.kind == STEP_FILE) write_text(step);
  else die("serve", "unknown step");
}

/* Sources are opened before the tree covers any of them. */
void build_tree(const struct script *script) {
  const char *end = script->steps + script->len;
  struct parsed step;
  int sources[256], count = 0, used = 0;
  for (const char *at = script->steps; at < end;) {
    at = take_step(at, end, &step);
    if (step.head.kind != STEP_BIND) continue;
    if (count == 256) die("serve", "too many places are shown");
    sources[count++] = open_source(&step);
  }
  if (mount("assay", TREE, "tmpfs", MS_NOSUID, "size=64m,nr_inodes=65536,mode=0755")) die_errno("mount", TREE);
  umask(0);
  for (const char *at = script->steps; at < end;) {
    at = take_step(at, end, &step);
    perform_step(&step, step.head.kind == STEP_BIND ? sources[used++] : -1);
  }
  umask(077);
  struct mount_attr_abi attr = {.attr_set = MOUNT_ATTR_RDONLY_ | MOUNT_ATTR_NOSUID_};
  if (syscall(SYS_mount_setattr, AT_FDCWD, TREE, 0, &attr, sizeof attr)) die_errno("mount", TREE);
  if (chdir(TREE) || syscall(SYS_pivot_root, ".", ".") || umount2(".", MNT_DETACH) || chdir("/")) die_errno("mount", "root");
}
