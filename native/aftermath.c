/* What a call has left behind, by whole paths of the sandbox: those that its record names. */
#define _GNU_SOURCE
#include "serve.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_LISTED 100000

/* ---- an answer that grows ---- */

void append(struct text *t, const void *bytes, size_t len) {
  if (t->len + len > t->cap) {
    size_t cap = t->cap ? t->cap : 4096;
    while (cap < t->len + len) cap *= 2;
    char *grown = realloc(t->bytes, cap);
    if (!grown) _exit(125);
    t->bytes = grown;
    t->cap = cap;
  }
  memcpy(t->bytes + t->len, bytes, len);
  t->len += len;
}

void append_name(struct text *t, const char *name) {
  uint32_t len = (uint32_t)strlen(name);
  append(t, &len, sizeof len);
  append(t, name, len);
}

struct answer to_answer(struct text *t) { return (struct answer){.bytes = t->bytes, .len = t->len}; }

char kind_of(mode_t mode) { return S_ISREG(mode) ? 'f' : S_ISDIR(mode) ? 'd' : S_ISLNK(mode) ? 'l' : 'o'; }

/* ---- what is there ---- */

static bool is_gone(int error) { return error == ENOENT || error == ENOTDIR; }

/* One after another: a letter, `-` for what is gone and `?` for what cannot be looked at, then device, inode, size,
   and the times of the last writing and of the last change of any kind. */
struct answer read_states(const char *names, size_t len) {
  struct text t = {0};
  for (const char *at = names, *end = names + len; at < end; at += strlen(at) + 1) {
    struct stat st;
    bool is_there = !fstatat(AT_FDCWD, at, &st, AT_SYMLINK_NOFOLLOW);
    char kind = is_there ? kind_of(st.st_mode) : is_gone(errno) ? '-' : '?';
    uint64_t numbers[5] = {0};
    if (is_there) {
      numbers[0] = st.st_dev;
      numbers[1] = st.st_ino;
      numbers[2] = (uint64_t)st.st_size;
      numbers[3] = (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec;
      numbers[4] = (uint64_t)st.st_ctim.tv_sec * 1000000000u + (uint64_t)st.st_ctim.tv_nsec;
    }
    append(&t, &kind, 1);
    append(&t, numbers, sizeof numbers);
  }
  return to_answer(&t);
}

static char kind_of_entry(int dir, const struct dirent *entry) {
  struct stat st;
  if (entry->d_type != DT_UNKNOWN) return kind_of(DTTOIF(entry->d_type));
  return fstatat(dir, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) ? 'o' : kind_of(st.st_mode);
}

/* The kinds and names of what is in a directory. Then `.` if that is all, and `?` if it is not known to be. A link that
   has come to stand there since leads to what is no part of it. */
static void list_one(struct text *t, const char *path, size_t *left) {
  int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  DIR *dir = fd < 0 ? NULL : fdopendir(fd);
  char end = dir || is_gone(errno) ? '.' : '?';
  for (struct dirent *entry; dir && (entry = readdir(dir));) {
    if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
    if (!*left) {
      end = '?';
      break;
    }
    char kind = kind_of_entry(fd, entry);
    append(t, &kind, 1);
    append_name(t, entry->d_name);
    --*left;
  }
  if (dir) closedir(dir);
  append(t, &end, 1);
}

struct answer list_whole(const char *names, size_t len) {
  struct text t = {0};
  size_t left = MAX_LISTED;
  for (const char *at = names, *end = names + len; at < end; at += strlen(at) + 1) list_one(&t, at, &left);
  return to_answer(&t);
}
