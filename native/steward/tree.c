/* Whole trees below the workspace: what there is, and removing it. */
#define _GNU_SOURCE
#include "steward.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_DEPTH 200
/* kind, size, ctime, inode, mode, length of the path */
#define RECORD 31

struct listing {
  uint32_t channel;
  unsigned char bytes[CHUNK];
  size_t len;
  char path[PATH_MAX];
};

static int is_dots(const char *name) {
  return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* A directory that can be listed; takes the place of its descriptor. */
static DIR *open_listing(int parent, const char *name) {
  int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  DIR *dir = fd < 0 ? NULL : fdopendir(fd);
  if (!dir && fd >= 0) close(fd);
  return dir;
}

static void flush(struct listing *l) {
  if (l->len > 0) send_frame(SAY_DATA, l->channel, l->bytes, l->len);
  l->len = 0;
}

static void add_record(struct listing *l, const struct stat *st) {
  size_t len = strlen(l->path);
  if (l->len + RECORD + len > sizeof l->bytes) flush(l);
  unsigned char *at = l->bytes + l->len;
  *at = S_ISREG(st->st_mode) ? 'f' : S_ISDIR(st->st_mode) ? 'd' : S_ISLNK(st->st_mode) ? 'l' : 'o';
  put_u64(at + 1, (uint64_t)st->st_size);
  put_u64(at + 9, (uint64_t)st->st_ctim.tv_sec * 1000000000u + (uint64_t)st->st_ctim.tv_nsec);
  put_u64(at + 17, st->st_ino);
  put_u32(at + 25, st->st_mode);
  at[29] = (unsigned char)len;
  at[30] = (unsigned char)(len >> 8);
  memcpy(at + RECORD, l->path, len);
  l->len += RECORD + len;
}

/* What cannot be listed is named, and its contents are not: its owner has closed it, which is a change of its own. */
static void list_below(struct listing *l, int parent, const char *name, int depth) {
  DIR *dir = depth < MAX_DEPTH ? open_listing(parent, name) : NULL;
  if (!dir) return;
  size_t end = strlen(l->path);
  for (struct dirent *entry; (entry = readdir(dir));) {
    struct stat st;
    if (is_dots(entry->d_name) || end + strlen(entry->d_name) + 2 > sizeof l->path) continue;
    if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW)) continue;
    snprintf(l->path + end, sizeof l->path - end, "%s%s", end ? "/" : "", entry->d_name);
    add_record(l, &st);
    if (S_ISDIR(st.st_mode)) list_below(l, dirfd(dir), entry->d_name, depth + 1);
    l->path[end] = 0;
  }
  closedir(dir);
}

void send_tree(uint32_t channel) {
  static struct listing l;
  l = (struct listing){.channel = channel};
  list_below(&l, AT_FDCWD, WORKSPACE, 0);
  flush(&l);
  send_ok(channel);
}

static void measure_below(int parent, const char *name, int depth, uint64_t *bytes, uint64_t *files) {
  DIR *dir = depth < MAX_DEPTH ? open_listing(parent, name) : NULL;
  if (!dir) return;
  for (struct dirent *entry; (entry = readdir(dir));) {
    struct stat st;
    if (is_dots(entry->d_name) || fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW)) continue;
    *bytes += (uint64_t)st.st_blocks * 512;
    ++*files;
    if (S_ISDIR(st.st_mode)) measure_below(dirfd(dir), entry->d_name, depth + 1, bytes, files);
  }
  closedir(dir);
}

void measure_workspace(uint64_t *bytes, uint64_t *files) {
  *bytes = *files = 0;
  measure_below(AT_FDCWD, WORKSPACE, 0, bytes, files);
}

static int remove_below(int parent, const char *name, int depth) {
  DIR *dir = open_listing(parent, name);
  if (!dir) return errno;
  int error = depth < MAX_DEPTH ? 0 : ENAMETOOLONG;
  for (struct dirent *entry; error == 0 && (entry = readdir(dir));) {
    if (is_dots(entry->d_name) || unlinkat(dirfd(dir), entry->d_name, 0) == 0) continue;
    if (errno != EISDIR) {
      error = errno;
      continue;
    }
    error = remove_below(dirfd(dir), entry->d_name, depth + 1);
    if (error == 0 && unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR)) error = errno;
  }
  closedir(dir);
  return error;
}

int remove_tree(int parent, const char *name) {
  if (strcmp(name, ".") == 0) return EBUSY;
  if (unlinkat(parent, name, 0) == 0) return 0;
  if (errno != EISDIR) return errno;
  int error = remove_below(parent, name, 0);
  return error ? error : unlinkat(parent, name, AT_REMOVEDIR) ? errno : 0;
}
