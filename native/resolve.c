/* From a path in another process to descriptors of our own. The kernel walks; only links of /proc, which mean
   something else to each process, are walked here. */
#define _GNU_SOURCE
#include "broker.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A file that was opened without a name is called by its number. */
static bool is_nameless(const char *path, const struct stat *held) {
  char name[64];
  snprintf(name, sizeof name, "/#%llu (deleted)", (unsigned long long)held->st_ino);
  return !strcmp(strrchr(path, '/'), name);
}

/* The kernel marks a name that is gone. Rules are about the name, unless a file is really called like that. */
static void strip_deleted(int fd, char *path, ssize_t len) {
  const ssize_t mark = sizeof " (deleted)" - 1;
  struct stat held, named;
  if (len <= mark || strcmp(path + len - mark, " (deleted)") || path[0] != '/' || !strncmp(path, "/memfd:", 7)) return;
  if (fstat(fd, &held)) return;
  bool is_called_so = !lstat(path, &named) && held.st_dev == named.st_dev && held.st_ino == named.st_ino;
  if (!is_called_so && !is_nameless(path, &held)) path[len - mark] = 0;
}

void canonical_path(int fd, char *out, size_t cap) {
  char link[32];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t len = readlink(link, out, cap - 1);
  out[len > 0 ? len : 0] = 0;
  strip_deleted(fd, out, len);
}

/* Where a path starts: the caller's directory or descriptor, or the root. */
int open_base(const struct request *r, int dirfd, const char *path) {
  char link[64];
  if (path[0] == '/') return r->broker->root_fd;
  if (dirfd != AT_FDCWD) {
    int copy = r->attempt->dir;
    r->attempt->dir = -1;
    return copy >= 0 ? copy : r->attempt->pidfd >= 0 ? fetch_descriptor(r, dirfd) : open_anew(r, dirfd);
  }
  snprintf(link, sizeof link, "/proc/%d/cwd", r->tid);
  int fd = open(link, O_PATH | O_CLOEXEC);
  return fd < 0 ? -errno : fd;
}

void close_base(const struct request *r, int base) {
  if (base != r->broker->root_fd) close(base);
}

static int open_plain(int at, const char *path, int flags, uint64_t resolve) {
  struct open_how_abi how = {.flags = (uint64_t)(flags | O_PATH | O_CLOEXEC), .resolve = RESOLVE_NO_MAGICLINKS_ | resolve};
  int fd = (int)syscall(SYS_openat2, at, path, &how, sizeof how);
  return fd < 0 ? -errno : fd;
}

static bool is_on_proc(const struct request *r, int fd) {
  struct stat st;
  return !fstat(fd, &st) && st.st_dev == r->broker->proc_dev;
}

/* Neither a pid namespace nor a Landlock domain keeps the programs out of other processes of the user. */
static bool are_others_open(const struct broker *b) {
  return !(b->plan->namespaces & NS_PID) && !b->plan->has_landlock && !(b->plan->flags & PLAN_OBSERVE_ONLY);
}

/* Our own entries in /proc are open to us and must not be to the caller: they lead to the plan and to the pipes. Nor those of
   whom nobody else keeps it out of. */
static bool is_kept_proc(const struct request *r, int fd) {
  char path[PATH_CAP], task[64];
  if (!is_on_proc(r, fd)) return false;
  canonical_path(fd, path, sizeof path);
  long pid = strncmp(path, "/proc/", 6) ? 0 : strtol(path + 6, NULL, 10);
  if (pid <= 0) return false;
  snprintf(task, sizeof task, "/proc/self/task/%ld", pid);
  return pid == getpid() || !access(task, F_OK) || (are_others_open(r->broker) && !is_descendant((pid_t)pid));
}

/* `self` and `thread-self` are ordinary links whose text depends on who reads them. */
static bool proc_self_text(const struct request *r, const char *name, char *out, size_t cap) {
  pid_t group = thread_group(r->tid);
  if (!strcmp(name, "self")) snprintf(out, cap, "%d", group);
  else if (!strcmp(name, "thread-self")) snprintf(out, cap, "%d/task/%d", group, r->tid);
  else return false;
  return true;
}

/* Puts `link` in front of what is left to walk. */
static int put_in_front(char *rest, const char *link, const char *tail) {
  char joined[PATH_CAP];
  int len = snprintf(joined, sizeof joined, "%s%s%s", link, *tail ? "/" : "", tail);
  if (len < 0 || len >= PATH_CAP) return -ENAMETOOLONG;
  memcpy(rest, joined, (size_t)len + 1);
  return 0;
}

static int read_link(int fd, char *out, size_t cap) {
  ssize_t len = readlinkat(fd, "", out, cap - 1);
  if (len < 0) return -errno;
  out[len] = 0;
  return 0;
}

/* The text of a link that was found as `name` in `at`: 1. Links among what belongs to a process have none, the kernel jumps to
   what it holds: 0. */
static int read_text(const struct request *r, int at, const char *name, int found, char *out, size_t cap) {
  char dir[PATH_CAP];
  if (is_on_proc(r, at)) {
    if (proc_self_text(r, name, out, cap)) return 1;
    canonical_path(at, dir, sizeof dir);
    if (!strncmp(dir, "/proc/", 6) && dir[6] >= '0' && dir[6] <= '9') return 0;
  }
  int error = read_link(found, out, cap);
  return error ? error : 1;
}

/* Walks one directory path by hand. Takes over `at`, returns a descriptor or an error. */
static int walk_slowly(const struct request *r, int at, const char *path) {
  char rest[PATH_CAP], name[256], link[PATH_CAP];
  int links = 0;
  if (strlen(path) >= sizeof rest) return close(at), -ENAMETOOLONG;
  strcpy(rest, path);
  for (char *p = rest;;) {
    if (*p == '/' && p == rest) {
      close(at);
      at = open("/", O_PATH | O_CLOEXEC);
    }
    while (*p == '/') p++;
    if (is_kept_proc(r, at)) return close(at), -EACCES;
    if (!*p) return at;
    size_t len = strcspn(p, "/");
    if (len >= sizeof name) return close(at), -ENAMETOOLONG;
    memcpy(name, p, len);
    name[len] = 0;
    p += len;
    while (*p == '/') p++;
    struct stat st;
    int next = openat(at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (next < 0 || fstat(next, &st)) {
      int error = errno;
      close(at);
      return -error;
    }
    if (!S_ISLNK(st.st_mode)) {
      close(at);
      at = next;
      continue;
    }
    if (++links > 40) return close(next), close(at), -ELOOP;
    int is_text = read_text(r, at, name, next, link, sizeof link), error = is_text < 0 ? is_text : 0;
    if (!is_text) {
      close(next);
      next = openat(at, name, O_PATH | O_CLOEXEC);
      error = next < 0 ? -errno : 0;
      close(at);
      if (error) return error;
      at = next;
      memmove(rest, p, strlen(p) + 1);
      p = rest;
      if (*p == '/') memmove(rest, rest + 1, strlen(rest));
      continue;
    }
    close(next);
    char tail[PATH_CAP];
    strcpy(tail, p);
    if (!error) error = put_in_front(rest, link, tail);
    if (error) return close(at), error;
    p = rest;
  }
}

static bool fails_without_links(int at, const char *path, int error) {
  int fd = open_plain(at, path, O_DIRECTORY, RESOLVE_NO_SYMLINKS_);
  if (fd >= 0) close(fd);
  return fd == error;
}

/* Opens the directory part of a path; the quick way unless it leads into or through /proc, where links mean to us what they
   do not to the caller. What is not there without passing one is not there. */
static int enter_directory(const struct request *r, int at, const char *path, bool *is_off_proc) {
  int fd = open_plain(at, path, O_DIRECTORY, 0);
  *is_off_proc = fd >= 0 && !is_on_proc(r, fd);
  if (*is_off_proc || (fd < 0 && fd != -ELOOP && fails_without_links(at, path, fd))) return fd;
  if (fd >= 0) close(fd);
  fd = walk_slowly(r, fcntl(at, F_DUPFD_CLOEXEC, 0), path);
  struct stat st;
  if (fd >= 0 && (fstat(fd, &st) || !S_ISDIR(st.st_mode))) return close(fd), -ENOTDIR;
  return fd;
}

static int own_descriptor_number(const struct request *r, const char *dir, const char *name) {
  char of_group[64], of_thread[64];
  pid_t group = thread_group(r->tid);
  snprintf(of_group, sizeof of_group, "/proc/%d/fd", group);
  snprintf(of_thread, sizeof of_thread, "/proc/%d/task/%d/fd", group, r->tid);
  return (!strcmp(dir, of_group) || !strcmp(dir, of_thread)) && name[0] >= '0' && name[0] <= '9' ? atoi(name) : -1;
}

/* The last name of the path, once its directory `at` is open. 0 = done, 1 = `rest` is to be walked from t->parent. */
static int look_up(const struct request *r, struct target *t, int follow, bool is_off_proc, char *rest, int *links) {
  char link[PATH_CAP];
  if (!is_off_proc && is_kept_proc(r, t->parent)) return -EACCES;
  if (follow == NAME_SEEN) {
    t->exists = !fstatat(t->parent, t->name, &t->st, AT_SYMLINK_NOFOLLOW);
    return t->exists || errno == ENOENT ? 0 : -errno;
  }
  t->object = openat(t->parent, t->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (t->object < 0) return errno == ENOENT ? 0 : -errno;
  if (fstat(t->object, &t->st)) return -errno;
  t->exists = true;
  if (!S_ISLNK(t->st.st_mode) || follow == NAME_ONLY || !(follow || t->must_be_dir)) return 0;
  if (++*links > 40) return -ELOOP;
  int error = is_off_proc ? read_link(t->object, link, sizeof link) : read_text(r, t->parent, t->name, t->object, link, sizeof link);
  if (!error && !is_off_proc) {
    char dir[PATH_CAP];
    canonical_path(t->parent, dir, sizeof dir);
    t->own_fd = own_descriptor_number(r, dir, t->name);
    close(t->object);
    t->object = openat(t->parent, t->name, O_PATH | O_CLOEXEC);
    if (t->object < 0 || fstat(t->object, &t->st)) return -errno;
    if (is_kept_proc(r, t->object)) return -EACCES; /* O_PATH opens are not seen, and may have led anywhere */
    close(t->parent);
    t->parent = -1;
    t->name[0] = 0;
    return 0;
  }
  close(t->object);
  t->object = -1;
  t->exists = false;
  if (error < 0) return error;
  return put_in_front(rest, link, t->must_be_dir ? "." : "") < 0 ? -ENAMETOOLONG : 1;
}

/* Does the caller hold what it names by its own descriptor? One that was opened by O_PATH is of anything that has a name
   in /proc. */
static bool is_callers_own(const struct request *r, const struct target *t) {
  struct stat st;
  int copy = t->own_fd < 0 ? -1 : fetch_descriptor(r, t->own_fd);
  bool is_own = copy >= 0 && !fstat(copy, &st) && st.st_dev == t->st.st_dev && st.st_ino == t->st.st_ino && !(fetch_flags(r, t->own_fd, copy) & O_PATH);
  if (copy >= 0) close(copy);
  return is_own;
}

/* A place too deep to have a name cannot be checked, so it cannot be used. */
static int finish_path(struct target *t) {
  canonical_path(t->parent < 0 ? t->object : t->parent, t->path, sizeof t->path - 300);
  size_t len = strlen(t->path);
  if (!len) return -ENAMETOOLONG;
  if (t->parent < 0) return 0;
  snprintf(t->path + len, sizeof t->path - len, "%s%s", t->path[len - 1] == '/' ? "" : "/", t->name);
  return 0;
}

/* Not all of it: the names are long, and are written before they are read. */
void clear_target(struct target *t) {
  t->parent = t->object = t->own_fd = -1;
  t->name[0] = t->path[0] = 0;
  t->exists = t->must_be_dir = t->is_dotdot = false;
}

void release(struct target *t) {
  if (t->parent >= 0) close(t->parent);
  if (t->object >= 0) close(t->object);
  t->parent = t->object = -1;
}

/* From `base`, which stays open. On success the target is filled in; an absent last name is success with !exists. */
int resolve(const struct request *r, int base, const char *path, int follow, struct target *t) {
  char rest[PATH_CAP];
  int links = 0, at = base;
  clear_target(t);
  if (strlen(path) >= PATH_MAX) return -ENAMETOOLONG;
  strcpy(rest, path);
  for (;;) {
    bool is_off_proc = false; /* unless that is known */
    size_t len = strlen(rest);
    while (len > 1 && rest[len - 1] == '/') rest[--len] = 0, t->must_be_dir = true;
    char *slash = strrchr(rest, '/'), *last = slash ? slash + 1 : rest;
    bool is_dots = !*last || !strcmp(last, ".") || !strcmp(last, "..");
    if (is_dots || slash) {
      char dir[PATH_CAP];
      size_t dir_len = is_dots ? len : slash == rest ? 1 : (size_t)(slash - rest);
      memcpy(dir, rest, dir_len);
      dir[dir_len] = 0;
      int next = enter_directory(r, at, dir, &is_off_proc);
      if (at != base) close(at);
      if (next < 0) return next;
      at = next;
    }
    if (is_dots) {
      t->object = at;
      t->exists = true;
      t->must_be_dir = true;
      t->is_dotdot = !strcmp(last, "..");
      if (fstat(at, &t->st)) return -errno;
      if (!is_off_proc && is_kept_proc(r, at)) return release(t), -EACCES;
      break;
    }
    if (strlen(last) >= sizeof t->name) return at == base ? 0 : close(at), -ENAMETOOLONG;
    strcpy(t->name, last);
    t->parent = at == base ? fcntl(base, F_DUPFD_CLOEXEC, 0) : at;
    if (t->parent < 0) return -errno;
    int error = look_up(r, t, follow, is_off_proc, rest, &links);
    if (error < 0) return release(t), error;
    if (!error) break;
    at = t->parent;
    t->parent = -1;
    if (rest[0] == '/') {
      close(at);
      at = open("/", O_PATH | O_CLOEXEC);
    }
  }
  if (follow < NAME_ONLY && t->exists && t->must_be_dir && !S_ISDIR(t->st.st_mode)) return release(t), -ENOTDIR;
  int error = finish_path(t);
  if (!error && t->parent < 0 && are_others_open(r->broker) && has_no_name(t) && !is_callers_own(r, t)) error = -EACCES;
  if (error) release(t);
  return error;
}
