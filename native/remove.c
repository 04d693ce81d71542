/* Removes a directory that a program has filled to be hard to remove: names of any depth, rights taken away. Directories
   inside are emptied into the top one before they go, so neither depth nor descriptors are used up. */
#define _GNU_SOURCE
#include "assay.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_dots(const char *name) { return !strcmp(name, ".") || !strcmp(name, ".."); }

/* Opens a directory that may have lost its rights, and gives them back. */
static int open_directory(int at, const char *name) {
  char link[32];
  int path = openat(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (path < 0) return -1;
  snprintf(link, sizeof link, "/proc/self/fd/%d", path);
  chmod(link, 0700);
  int fd = open(link, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  close(path);
  return fd;
}

/* Moves everything in `name` up into `top`, under new names. */
static bool flatten(int top, const char *name, unsigned long *counter) {
  int fd = open_directory(top, name);
  DIR *dir = fd < 0 ? NULL : fdopendir(fd);
  bool ok = dir != NULL;
  for (struct dirent *entry; ok && (entry = readdir(dir));) {
    char fresh[64];
    if (is_dots(entry->d_name)) continue;
    snprintf(fresh, sizeof fresh, ".removed-%lu", (*counter)++);
    /* A directory can be moved only by one who may write to it, for its `..`. */
    int inner = open_directory(fd, entry->d_name);
    if (inner >= 0) close(inner);
    if (unlinkat(fd, entry->d_name, 0) && renameat(fd, entry->d_name, top, fresh)) ok = false;
  }
  if (dir) closedir(dir);
  return ok && !unlinkat(top, name, AT_REMOVEDIR);
}

/* One pass over the directory; true when it left nothing behind. */
static bool remove_entries(int top, unsigned long *counter, bool *has_failed) {
  DIR *dir = fdopendir(dup(top));
  bool is_empty = true;
  if (!dir) return *has_failed = true, false;
  rewinddir(dir);
  for (struct dirent *entry; (entry = readdir(dir)) && !*has_failed;) {
    if (is_dots(entry->d_name)) continue;
    is_empty = false;
    if (unlinkat(top, entry->d_name, 0) && !flatten(top, entry->d_name, counter)) *has_failed = true;
  }
  closedir(dir);
  return is_empty;
}

/* Closes `top`, which is of that name. Where new names begin nobody can know, and so be in their way. */
static int remove_directory(int top, int at, const char *name) {
  unsigned long counter;
  bool has_failed = getrandom(&counter, sizeof counter, 0) != sizeof counter;
  while (!has_failed && !remove_entries(top, &counter, &has_failed)) {
  }
  close(top);
  return has_failed ? -1 : unlinkat(at, name, AT_REMOVEDIR);
}

int remove_whole(int parent, const char *name) {
  if (!unlinkat(parent, name, 0)) return 0;
  int top = errno == EISDIR || errno == EPERM ? open_directory(parent, name) : -1;
  return top < 0 ? -1 : remove_directory(top, parent, name);
}

int run_remove(const char *path) {
  int top = open_directory(AT_FDCWD, path);
  if (top < 0) return errno == ENOENT ? 0 : 1;
  if (flock(top, LOCK_EX | LOCK_NB)) return close(top), errno == EWOULDBLOCK ? 0 : 1; /* in use: somebody else's to remove */
  return remove_directory(top, AT_FDCWD, path) ? 1 : 0;
}
