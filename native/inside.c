/* What somebody outside does with the files of a workspace. No link leads out of it: the kernel is asked to stay below. */
#define _GNU_SOURCE
#include "serve.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ROOT "/workspace"
#define MAX_LISTED 100000
#define MAX_DEPTH 200

void file_digest(int fd, char out[65]);

enum file_op {
  FILE_READ = 'r', FILE_WRITE = 'w', FILE_MKDIR = 'm', FILE_LIST = 'l', FILE_STAT = 's', FILE_REMOVE = 'd', FILE_RENAME = 'n',
  FILE_LINK = 'y', FILE_TREE = 't', FILE_STATES = 'S', FILE_BELOW = 'b', FILE_APPEND = 'a', FILE_CODE = 'c',
  FILE_HOLD = 'h'
};

/* The request: what to do, a number (how many bytes, or a mode), the length of the path; the path; the rest. */
struct request {
  uint32_t op, path_len;
  uint64_t number;
};

static int open_below(int dir, const char *path, uint64_t flags, mode_t mode) {
  struct open_how how = {.flags = flags | O_CLOEXEC, .mode = mode, .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
  return (int)syscall(SYS_openat2, dir, *path ? path : ".", &how, sizeof how);
}

static struct answer fail(int error) { return (struct answer){.error = error ? error : EIO}; }
static struct answer done(int result) { return result < 0 ? fail(errno) : (struct answer){0}; }
static struct answer result(int error) { return (struct answer){.error = error}; }

/* ---- one file ---- */

static struct answer read_file(int root, const char *path, uint64_t max, off_t from) {
  int fd = open_below(root, path, O_RDONLY | O_NONBLOCK, 0);
  struct stat st;
  if (fd < 0) return fail(errno);
  if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
    close(fd);
    return fail(S_ISDIR(st.st_mode) ? EISDIR : EINVAL);
  }
  struct text t = {0};
  char bytes[1 << 16];
  while (t.len < max) {
    size_t want = max - t.len < sizeof bytes ? (size_t)(max - t.len) : sizeof bytes;
    ssize_t got = pread(fd, bytes, want, from + (off_t)t.len);
    if (got <= 0) break;
    append(&t, bytes, (size_t)got);
  }
  close(fd);
  return to_answer(&t);
}

/* 0, or why not. */
int write_whole(int fd, const char *bytes, size_t len) {
  for (size_t at = 0; at < len;) {
    ssize_t sent = write(fd, bytes + at, len - at);
    if (sent < 0) return errno;
    at += (size_t)sent;
  }
  return 0;
}

/* Anew, or behind what is there. */
static struct answer write_file(int root, const char *path, mode_t mode, bool is_anew, const char *bytes, size_t len) {
  int fd = open_below(root, path, O_WRONLY | O_CREAT | O_NONBLOCK | (is_anew ? 0 : O_APPEND), mode);
  struct stat st;
  if (fd < 0) return fail(errno);
  int error = fstat(fd, &st) ? errno : S_ISREG(st.st_mode) ? 0 : EINVAL;
  if (!error && is_anew && ftruncate(fd, 0)) error = errno;
  if (!error) error = write_whole(fd, bytes, len);
  close(fd);
  return error ? fail(error) : (struct answer){0};
}

/* The directory that a name is in, and the name. Links among the directories are followed as far as they stay below. */
static int open_parent(int root, const char *path, const char **name) {
  char copy[PATH_CAP];
  const char *slash = strrchr(path, '/');
  *name = slash ? slash + 1 : path;
  if (!**name || !strcmp(*name, ".") || !strcmp(*name, "..")) return errno = EINVAL, -1;
  size_t len = slash ? (size_t)(slash - path) : 0;
  if (len >= sizeof copy) return errno = ENAMETOOLONG, -1;
  memcpy(copy, path, len);
  copy[len] = 0;
  return open_below(root, copy, O_RDONLY | O_DIRECTORY, 0);
}

static struct answer make_directories(int root, const char *path) {
  char copy[PATH_CAP];
  if (strlen(path) >= sizeof copy) return fail(ENAMETOOLONG);
  strcpy(copy, path);
  for (char *at = copy;; at++) {
    if (*at && *at != '/') continue;
    char kept = *at;
    *at = 0;
    const char *name;
    int parent = *copy ? open_parent(root, copy, &name) : -1;
    if (*copy && parent < 0) return fail(errno);
    if (parent >= 0) {
      int result = mkdirat(parent, name, 0777), error = errno;
      close(parent);
      if (result && error != EEXIST) return fail(error);
    }
    *at = kept;
    if (!kept) break;
  }
  int fd = open_below(root, path, O_RDONLY | O_DIRECTORY, 0);
  if (fd < 0) return fail(errno);
  close(fd);
  return (struct answer){0};
}

static struct answer stat_file(int root, const char *path) {
  int fd = open_below(root, path, O_PATH, 0);
  struct stat st;
  struct text t = {0};
  if (fd < 0) return fail(errno);
  int error = fstat(fd, &st) ? errno : 0;
  close(fd);
  if (error) return fail(error);
  char kind = kind_of(st.st_mode);
  uint64_t size = (uint64_t)st.st_size;
  append(&t, &kind, 1);
  append(&t, &size, sizeof size);
  return to_answer(&t);
}

static struct answer list_directory(int root, const char *path) {
  int fd = open_below(root, path, O_RDONLY | O_DIRECTORY, 0);
  DIR *dir = fd < 0 ? NULL : fdopendir(fd);
  struct text t = {0};
  if (!dir) return fail(errno);
  for (struct dirent *entry; (entry = readdir(dir));) {
    struct stat st;
    if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") || fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW)) continue;
    char kind = kind_of(st.st_mode);
    append(&t, &kind, 1);
    append_name(&t, entry->d_name);
  }
  closedir(dir);
  return to_answer(&t);
}

static struct answer remove_file(int root, const char *path) {
  const char *name;
  int parent = open_parent(root, path, &name);
  if (parent < 0) return fail(errno);
  struct answer answer = done(remove_whole(parent, name));
  close(parent);
  return answer;
}

static struct answer rename_file(int root, const char *from, const char *to) {
  const char *old_name, *new_name;
  int old_parent = open_parent(root, from, &old_name);
  if (old_parent < 0) return fail(errno);
  int new_parent = open_parent(root, to, &new_name);
  struct answer answer = new_parent < 0 ? fail(errno) : done(renameat(old_parent, old_name, new_parent, new_name));
  close(old_parent);
  if (new_parent >= 0) close(new_parent);
  return answer;
}

static struct answer link_file(int root, const char *path, const char *target) {
  const char *name;
  int parent = open_parent(root, path, &name);
  if (parent < 0) return fail(errno);
  struct answer answer = done(symlinkat(target, parent, name));
  close(parent);
  return answer;
}

/* ---- all of them ---- */

struct walk {
  struct text text;
  size_t left;
  bool with_digests;
  char path[PATH_CAP];
};

static void add_entry(struct walk *w, char kind, const struct stat *st, const char *digest) {
  uint64_t numbers[4] = {(uint64_t)st->st_size, (uint64_t)st->st_ino, (uint64_t)st->st_mtim.tv_sec * 1000000000u + (uint64_t)st->st_mtim.tv_nsec,
                         (uint64_t)st->st_ctim.tv_sec * 1000000000u + (uint64_t)st->st_ctim.tv_nsec};
  append(&w->text, &kind, 1);
  append(&w->text, numbers, sizeof numbers);
  append_name(&w->text, digest);
  append_name(&w->text, w->path);
}

/* For each: its kind, size, how to tell that it is another or has changed, its digest if asked for, its name. A directory
   that is not looked into, or not to its end, is listed as something else. */
static void walk_tree(struct walk *w, int fd, size_t len, int depth) {
  struct stat own;
  DIR *dir = fdopendir(fd);
  if (!dir) {
    close(fd);
    return;
  }
  bool is_cut = false;
  for (struct dirent *entry; (entry = readdir(dir));) {
    struct stat st;
    if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") || fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW)) continue;
    int n = snprintf(w->path + len, sizeof w->path - len, "%s%s", len ? "/" : "", entry->d_name);
    is_cut = !w->left || n < 0 || (size_t)n >= sizeof w->path - len;
    if (is_cut) break;
    char kind = kind_of(st.st_mode), digest[65] = "";
    if (w->with_digests && kind == 'f') {
      int file = openat(fd, entry->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
      if (file >= 0) file_digest(file, digest), close(file);
    }
    int below = kind == 'd' && depth < MAX_DEPTH ? openat(fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    add_entry(w, kind == 'd' && below < 0 ? 'o' : kind, &st, digest);
    w->left--;
    if (below >= 0) walk_tree(w, below, len + (size_t)n, depth + 1);
  }
  w->path[len] = 0;
  if (is_cut && len && !fstat(fd, &own)) add_entry(w, 'o', &own, "");
  closedir(dir);
}

static struct answer list_tree(int root, bool with_digests) {
  struct walk *w = calloc(1, sizeof *w);
  if (!w) return fail(ENOMEM);
  w->left = MAX_LISTED;
  w->with_digests = with_digests;
  int fd = open_below(root, "", O_RDONLY | O_DIRECTORY, 0);
  if (fd >= 0) walk_tree(w, fd, 0, 0);
  struct answer answer = to_answer(&w->text);
  free(w);
  return answer;
}

static struct answer perform(int root, const struct request *r, const char *path, const char *rest, size_t rest_len) {
  switch (r->op) {
    case FILE_READ: return read_file(root, path, r->number, (off_t)strtoull(rest, NULL, 10));
    case FILE_WRITE: case FILE_APPEND: return write_file(root, path, (mode_t)r->number, r->op == FILE_WRITE, rest, rest_len);
    case FILE_CODE: return result(put_code(path, rest, rest_len));
    case FILE_HOLD: return result(hold_code(path, r->number != 0));
    case FILE_MKDIR: return make_directories(root, path);
    case FILE_LIST: return list_directory(root, path);
    case FILE_STAT: return stat_file(root, path);
    case FILE_REMOVE: return remove_file(root, path);
    case FILE_RENAME: return rename_file(root, path, rest);
    case FILE_LINK: return link_file(root, path, rest);
    case FILE_TREE: return list_tree(root, r->number != 0);
    case FILE_STATES: return read_states(rest, rest_len);
    case FILE_BELOW: return list_whole(rest, rest_len);
    default: return fail(EINVAL);
  }
}

/* Everything after the head ends with a zero byte, which is not part of what is written. */
struct answer perform_file(const char *bytes, size_t len) {
  struct request r;
  if (len < sizeof r + 2) return fail(EINVAL);
  memcpy(&r, bytes, sizeof r);
  const char *path = bytes + sizeof r, *end = bytes + len - 1;
  if (r.path_len >= (size_t)(end - path) || path[r.path_len] || *end) return fail(EINVAL);
  const char *rest = path + r.path_len + 1;
  int root = open(ROOT, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (root < 0) return fail(errno);
  umask(022);
  struct answer answer = perform(root, &r, path, rest, (size_t)(end - rest));
  close(root);
  return answer;
}
