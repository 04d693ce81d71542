/* File calls, performed for the program. Each names its target by descriptors, is checked on the canonical path, and
   is then carried out on those descriptors. */
#define _GNU_SOURCE
#include "broker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

#define XATTR_CAP 65536
/* What openat2 knows; openat ignores the rest, so it is left out. */
#define OPENAT2_FLAGS \
  (O_ACCMODE | O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_APPEND | O_NONBLOCK | O_SYNC | O_ASYNC | O_DIRECT | O_LARGEFILE | \
   O_DIRECTORY | O_NOFOLLOW | O_NOATIME | O_CLOEXEC)

static void object_link(const struct target *t, char out[32]) { snprintf(out, 32, "/proc/self/fd/%d", t->object); }

/* Reads a path argument and resolves it. An empty path is ENOENT unless `empty_ok`, when the descriptor is meant. */
static int resolve_argument(const struct request *r, int dirfd, uint64_t address, int follow, bool empty_ok, struct target *t) {
  char path[PATH_CAP];
  *t = (struct target){.parent = -1, .object = -1, .own_fd = -1};
  int len = fetch_string(r, address, path, 4096);
  if (len < 0) return len;
  if (len == 0 && !empty_ok) return -ENOENT;
  int base = open_base(r, dirfd, path);
  if (base < 0) return base;
  if (!is_still_waiting(r)) return close(base), -ESRCH;
  if (len) return resolve(r, base, path, follow, t);
  t->object = base;
  t->exists = true;
  if (fstat(base, &t->st)) return -errno;
  canonical_path(base, t->path, sizeof t->path);
  return 0;
}

static bool may_create(struct broker *b) {
  uint64_t max = b->plan->max_files;
  return !max || atomic_fetch_add(&b->files_created, 1) < max;
}

/* A program that the host's root runs must not leave behind files that run with its rights for others. */
static bool is_setuid_refused(const struct request *r, mode_t mode) { return r->broker->plan->uid == 0 && (mode & (S_ISUID | S_ISGID)); }

/* The kernel's own layers refused it. Ordinary permissions refuse too; those are the program's own business. */
static void note_kernel_refusal(struct broker *b, const char *op, const char *path, uint32_t ops, int error) {
  if ((error == -EACCES || error == -EROFS || error == -EPERM) && !is_covered(b, path, ops)) note_refusal(b, op, path, NO_RULE, -error);
}

/* ---- open ---- */

struct open_call {
  int dirfd, flags;
  uint64_t path;
  mode_t mode;
};

static int read_open_call(const struct request *r, struct open_call *call) {
  const uint64_t *a = r->args;
#ifdef SYS_open
  if (r->nr == SYS_open) return *call = (struct open_call){AT_FDCWD, (int)a[1], a[0], (mode_t)a[2]}, 0;
  if (r->nr == SYS_creat) return *call = (struct open_call){AT_FDCWD, O_CREAT | O_WRONLY | O_TRUNC, a[0], (mode_t)a[1]}, 0;
#endif
  if (r->nr == SYS_openat) return *call = (struct open_call){(int)a[0], (int)a[2], a[1], (mode_t)a[3]}, 0;
  struct open_how_abi how;
  if (a[3] < sizeof how) return -EINVAL;
  if (a[3] > sizeof how) return -E2BIG;
  int error = fetch_bytes(r, a[2], &how, sizeof how);
  if (error) return error;
  /* A caller that asks for special resolution has a fallback for kernels that lack this call. */
  if (how.resolve & ~0x3full) return -EINVAL;
  if (how.resolve || (how.flags & O_PATH)) return -ENOSYS;
  if ((how.flags & ~(uint64_t)(OPENAT2_FLAGS | O_TMPFILE)) || how.mode & ~07777ull) return -EINVAL;
  if (how.mode && !(how.flags & O_CREAT) && (how.flags & O_TMPFILE) != O_TMPFILE) return -EINVAL;
  *call = (struct open_call){(int)a[0], (int)how.flags, a[1], (mode_t)how.mode};
  return 0;
}

static uint32_t open_ops(const struct open_call *call, bool exists) {
  uint32_t ops = 0;
  int mode = call->flags & O_ACCMODE;
  if (mode != O_WRONLY) ops |= OP_READ;
  if (mode != O_RDONLY || (call->flags & O_TRUNC) || (call->flags & O_TMPFILE) == O_TMPFILE) ops |= OP_WRITE;
  if ((call->flags & O_CREAT) && !exists) ops |= OP_WRITE;
  return ops;
}

/* /dev/tty means the caller's terminal, which need not be ours. */
static int open_caller_tty(const struct request *r, int flags) {
  char path[64], text[512];
  int terminal = 0;
  if (getsid(r->tid) == getsid(0)) return open("/dev/tty", flags);
  snprintf(path, sizeof path, "/proc/%d/stat", thread_group(r->tid));
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t len = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
  if (fd >= 0) close(fd);
  text[len > 0 ? len : 0] = 0;
  char *after_name = strrchr(text, ')');
  if (!after_name || sscanf(after_name + 2, "%*c %*d %*d %*d %d", &terminal) != 1 || !terminal) return errno = ENXIO, -1;
  snprintf(path, sizeof path, "/dev/pts/%u", minor((dev_t)terminal));
  return open(path, flags);
}

static int open_target(const struct request *r, const struct open_call *call, const struct target *t) {
  int flags = (call->flags & ~O_CLOEXEC) | O_CLOEXEC | O_NOCTTY;
  char link[32];
  if ((call->flags & O_TMPFILE) == O_TMPFILE || (t->parent < 0 && t->exists && S_ISDIR(t->st.st_mode)))
    return t->exists ? openat(t->object, ".", flags & ~O_NOFOLLOW, call->mode) : (errno = ENOENT, -1);
  if (t->exists && S_ISCHR(t->st.st_mode) && t->st.st_rdev == makedev(5, 0)) return open_caller_tty(r, flags & ~(O_CREAT | O_EXCL));
  if (t->parent < 0) {
    object_link(t, link);
    return open(link, flags & ~(O_CREAT | O_EXCL | O_NOFOLLOW));
  }
  /* Not O_NOFOLLOW, which would stay visible in the flags of the descriptor. */
  struct open_how_abi how = {(uint64_t)(flags & OPENAT2_FLAGS), flags & (O_CREAT | O_TMPFILE) ? call->mode & 07777 : 0, RESOLVE_NO_SYMLINKS_};
  if (!(flags & O_CREAT)) how.mode = 0;
  return (int)syscall(SYS_openat2, t->parent, t->name, &how, sizeof how);
}

/* A descriptor that the caller holds may be named by /dev/stdout and the like; where the file itself is out of bounds,
   the caller gets the very descriptor again, which grants nothing new. */
static int duplicate_own(const struct request *r, const struct open_call *call, const struct target *t) {
  if (t->own_fd < 0) return -EACCES;
  int fd = fetch_descriptor(r, t->own_fd);
  if (fd < 0) return fd;
  int have = fcntl(fd, F_GETFL) & O_ACCMODE, want = call->flags & O_ACCMODE;
  if (have == O_RDWR || have == want) return fd;
  close(fd);
  return -EACCES;
}

static bool may_block(const struct open_call *call, const struct target *t) {
  return t->exists && S_ISFIFO(t->st.st_mode) && !(call->flags & O_NONBLOCK) && (call->flags & O_ACCMODE) != O_RDWR;
}

/* Returns a descriptor, an error, or -EAGAIN when a link took the place of the file and all is to be done again. */
static int open_checked(const struct request *r, const struct open_call *call, const struct target *t) {
  struct broker *b = r->broker;
  uint32_t ops = open_ops(call, t->exists), rule = refusal_of(b, t, ops);
  const char *op = ops & OP_WRITE ? "write" : "read";
  if (rule == NO_RULE && t->own_fd >= 0) return duplicate_own(r, call, t);
  if (rule) return note_refusal(b, op, t->path, rule, EACCES), -EACCES;
  if (!t->exists && !(call->flags & O_CREAT)) return -ENOENT;
  bool creates = !t->exists || (call->flags & O_TMPFILE) == O_TMPFILE;
  if (creates && !may_create(b)) return note_refusal(b, "limit-files", t->path, NO_RULE, EDQUOT), -EDQUOT;
  if (creates) use_umask_of(r);
  if (creates && is_setuid_refused(r, call->mode)) return note_refusal(b, "setuid", t->path, NO_RULE, EPERM), -EPERM;
  /* Truncating waits until what was opened is known to be what was checked. */
  struct open_call plain = *call;
  bool truncates = t->exists && (call->flags & O_TRUNC) && (call->flags & O_ACCMODE) != O_RDONLY && S_ISREG(t->st.st_mode);
  if (truncates) plain.flags &= ~O_TRUNC;
  int fd = open_target(r, &plain, t), error = fd < 0 ? -errno : 0;
  if (error == -ELOOP && !(call->flags & O_NOFOLLOW)) return -EAGAIN;
  if (error == -EACCES && t->own_fd >= 0) return duplicate_own(r, call, t);
  if (error) return note_kernel_refusal(b, op, t->path, ops, error), error;
  struct target now = {.parent = -1, .object = fd, .own_fd = -1, .exists = true};
  canonical_path(fd, now.path, sizeof now.path);
  if (strcmp(now.path, t->path) && now.path[0] == '/' && !fstat(fd, &now.st) && (rule = refusal_of(b, &now, ops))) {
    close(fd);
    return note_refusal(b, op, now.path, rule, EACCES), -EACCES;
  }
  if (truncates && ftruncate(fd, 0)) {
    error = -errno;
    close(fd);
    return note_kernel_refusal(b, op, t->path, ops, error), error;
  }
  if (creates) guard_note(b, t);
  return fd;
}

static bool ends_in_slash(const struct request *r, uint64_t address) {
  char path[4096];
  int len = fetch_string(r, address, path, sizeof path);
  return len > 0 && path[len - 1] == '/';
}

static void open_and_answer(const struct request *r, bool is_own_thread) {
  struct open_call call;
  struct target t;
  int fd = read_open_call(r, &call);
  if (fd < 0) return answer(r, 0, fd);
  bool is_exclusive = (call.flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL);
  if ((call.flags & O_CREAT) && ends_in_slash(r, call.path)) return answer(r, 0, -EISDIR);
  for (int attempt = 0; attempt < 40; attempt++) {
    fd = resolve_argument(r, call.dirfd, call.path, !(call.flags & O_NOFOLLOW) && !is_exclusive, false, &t);
    if (fd < 0) break;
    if (!is_own_thread && may_block(&call, &t)) {
      release(&t);
      if (!in_own_thread(r, perform_open)) answer(r, 0, -ENFILE);
      return;
    }
    fd = open_checked(r, &call, &t);
    release(&t);
    if (fd != -EAGAIN) break;
  }
  if (fd == -EAGAIN) fd = -ELOOP;
  if (fd < 0) return answer(r, 0, fd);
  answer_descriptor(r, fd, call.flags & O_CLOEXEC);
  close(fd);
}

/* Reads under the kernel's own layers: seen here, refused here if the kernel would, otherwise left to the kernel. */
static void probe_open(const struct request *r, const struct open_call *call) {
  struct target t;
  int error = resolve_argument(r, call->dirfd, call->path, !(call->flags & O_NOFOLLOW), false, &t);
  if (error == -ENOENT || error == -ENOTDIR || (!error && !t.exists)) {
    char path[PATH_CAP];
    int len = fetch_string(r, call->path, path, 4096);
    if (len > 0 && path[0] == '/') note_hidden(r->broker, path);
    else if (!error) note_hidden(r->broker, t.path);
  }
  bool is_plain = !error && t.exists && (S_ISREG(t.st.st_mode) || S_ISDIR(t.st.st_mode));
  if (is_plain && !is_covered(r->broker, t.path, OP_READ)) {
    int fd = open_target(r, call, &t);
    if (fd < 0) note_kernel_refusal(r->broker, "read", t.path, OP_READ, -errno);
    else close(fd);
  }
  release(&t);
  answer_continue(r);
}

void perform_open(const struct request *r) {
  struct open_call call;
  bool is_probed = (r->broker->plan->flags & PLAN_OPENS_PROBED) && r->nr != SYS_openat2 && !read_open_call(r, &call) &&
                   !(call.flags & O_CREAT) && open_ops(&call, true) == OP_READ;
  if (is_probed) return probe_open(r, &call);
  open_and_answer(r, is_in_own_thread());
}

/* ---- calls that change what a path names ---- */

enum { CREATES = 1 };

static int make_entry(const struct request *r, struct target *t, int (*make)(const struct request *, struct target *)) {
  struct broker *b = r->broker;
  if (t->exists || !t->name[0]) return -EEXIST;
  if (!may_create(b)) return note_refusal(b, "limit-files", t->path, NO_RULE, EDQUOT), -EDQUOT;
  use_umask_of(r);
  int error = make(r, t);
  if (!error) guard_note(b, t);
  return error;
}

static int make_dir(const struct request *r, struct target *t) {
  return mkdirat(t->parent, t->name, (mode_t)(r->nr == SYS_mkdirat ? r->args[2] : r->args[1])) ? -errno : 0;
}

static int make_node(const struct request *r, struct target *t) {
  bool at = r->nr == SYS_mknodat;
  mode_t mode = (mode_t)r->args[at ? 2 : 1];
  if (t->must_be_dir) return -ENOENT;
  if (is_setuid_refused(r, mode)) return -EPERM;
  return mknodat(t->parent, t->name, mode, (dev_t)r->args[at ? 3 : 2]) ? -errno : 0;
}

static int make_link(const struct request *r, struct target *t) {
  char text[PATH_CAP];
  int len = fetch_string(r, r->args[0], text, 4096);
  if (len < 0) return len;
  if (t->must_be_dir) return -ENOENT;
  return symlinkat(text, t->parent, t->name) ? -errno : 0;
}

/* The kernel tells `.`, `..` and `/` apart. */
static int removal_error(const struct target *t) {
  if (!strcmp(t->path, "/")) return -EBUSY;
  return t->is_dotdot ? -ENOTEMPTY : -EINVAL;
}

static int remove_entry(const struct request *r, struct target *t, int flags) {
  if (!t->exists) return -ENOENT;
  if (!t->name[0]) return flags & AT_REMOVEDIR ? removal_error(t) : -EISDIR;
  if (t->must_be_dir && !S_ISDIR(t->st.st_mode)) return -ENOTDIR;
  if (guard_refuses_removal(r->broker, t)) return note_refusal(r->broker, "remove", t->path, GUARD_RULE, EACCES), -EACCES;
  return unlinkat(t->parent, t->name, flags) ? -errno : 0;
}

/* One answer for each call that takes one path and changes what it names. */
static void change_one(const struct request *r, const char *op, int dirfd, uint64_t path, int (*change)(const struct request *, struct target *),
                       int follow, int kind) {
  struct target t = {.parent = -1, .object = -1};
  char text[PATH_CAP];
  int len = change == make_link ? fetch_string(r, r->args[0], text, 4096) : 1;
  int error = len < 0 ? len : len == 0 ? -ENOENT : resolve_argument(r, dirfd, path, follow, false, &t);
  if (!error) {
    uint32_t rule = refusal_of(r->broker, &t, OP_WRITE);
    /* A symbolic link at the head of a protected name would stand in for a directory that holds one. */
    if (!rule && change == make_link) rule = find_rename_refusal(r->broker, t.path, t.path, true);
    if (rule && !(kind & CREATES && t.exists)) note_refusal(r->broker, op, t.path, rule, EACCES), error = -EACCES;
    else {
      pthread_mutex_lock(&r->broker->names_lock);
      error = kind & CREATES ? make_entry(r, &t, change) : change(r, &t);
      pthread_mutex_unlock(&r->broker->names_lock);
    }
    if (!rule) note_kernel_refusal(r->broker, op, t.path, OP_WRITE, error);
  }
  release(&t);
  answer(r, 0, error);
}

#ifdef SYS_unlink
static int remove_file(const struct request *r, struct target *t) { return remove_entry(r, t, 0); }
static int remove_dir(const struct request *r, struct target *t) { return remove_entry(r, t, AT_REMOVEDIR); }
#endif
static int remove_at(const struct request *r, struct target *t) {
  return (int)r->args[2] & ~AT_REMOVEDIR ? -EINVAL : remove_entry(r, t, (int)r->args[2]);
}

static int set_length(const struct request *r, struct target *t) {
  char link[32];
  if ((off_t)r->args[1] < 0) return -EINVAL;
  if (!t->exists) return -ENOENT;
  object_link(t, link);
  return truncate(link, (off_t)r->args[1]) ? -errno : 0;
}

/* ---- two paths ---- */

static int check_rename(const struct request *r, const struct target *from, const struct target *to, bool is_exchange) {
  struct broker *b = r->broker;
  bool is_dir = S_ISDIR(from->st.st_mode) || S_ISLNK(from->st.st_mode) || (is_exchange && S_ISDIR(to->st.st_mode));
  uint32_t rule = refusal_of(b, from, OP_WRITE);
  const char *path = from->path;
  if (!rule) rule = refusal_of(b, to, OP_WRITE), path = to->path;
  if (!rule) rule = find_rename_refusal(b, from->path, to->path, is_dir);
  if (!rule && is_exchange) rule = find_rename_refusal(b, to->path, from->path, true);
  if (!rule && (guard_refuses_removal(b, from) || (is_exchange && guard_refuses_removal(b, to)))) rule = GUARD_RULE;
  if (rule) return note_refusal(b, "rename", path, rule, EACCES), -EACCES;
  /* Nothing is protected in the private tmp, so a directory from there is copied file by file, not moved as it is. */
  if (S_ISDIR(from->st.st_mode) && is_in_private_tmp(b, from->path) != is_in_private_tmp(b, to->path)) return -EXDEV;
  return 0;
}

static void perform_rename(const struct request *r) {
  const uint64_t *a = r->args;
  struct target from, to = {.parent = -1, .object = -1};
  unsigned flags = r->nr == SYS_renameat2 ? (unsigned)a[4] : 0;
  bool has_dirs = true;
#ifdef SYS_rename
  has_dirs = r->nr != SYS_rename;
#endif
  int error = resolve_argument(r, has_dirs ? (int)a[0] : AT_FDCWD, a[has_dirs ? 1 : 0], NAME_ONLY, false, &from);
  if (!error) error = resolve_argument(r, has_dirs ? (int)a[2] : AT_FDCWD, a[has_dirs ? 3 : 1], NAME_ONLY, false, &to);
  if (!error && (!from.name[0] || !to.name[0])) error = from.name[0] && (flags & 1 /* NOREPLACE */) ? -EEXIST : -EBUSY;
  if (!error && !from.exists) error = -ENOENT;
  if (!error && to.exists && (flags & 1)) error = -EEXIST;
  if (!error && (to.must_be_dir || from.must_be_dir) && !S_ISDIR(from.st.st_mode)) error = -ENOTDIR;
  if (!error) error = check_rename(r, &from, &to, flags & 2 /* EXCHANGE */);
  if (!error) {
    pthread_mutex_lock(&r->broker->names_lock);
    error = syscall(SYS_renameat2, from.parent, from.name, to.parent, to.name, flags) ? -errno : 0;
    pthread_mutex_unlock(&r->broker->names_lock);
    note_kernel_refusal(r->broker, "rename", is_covered(r->broker, from.path, OP_WRITE) ? to.path : from.path, OP_WRITE, error);
    if (!error) guard_note(r->broker, &to);
    if (!error && flags & 2) guard_note(r->broker, &from);
  }
  release(&from);
  release(&to);
  answer(r, 0, error);
}

static void perform_link(const struct request *r) {
  const uint64_t *a = r->args;
  struct broker *b = r->broker;
  struct target from, to = {.parent = -1, .object = -1};
  bool at = r->nr == SYS_linkat;
  int flags = at ? (int)a[4] : 0;
  char link[32];
  if (flags & ~(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH)) return answer(r, 0, -EINVAL);
  int error = resolve_argument(r, at ? (int)a[0] : AT_FDCWD, a[at ? 1 : 0], flags & AT_SYMLINK_FOLLOW ? FOLLOW : 0, flags & AT_EMPTY_PATH, &from);
  if (!error && !from.exists) error = -ENOENT;
  if (!error) error = resolve_argument(r, at ? (int)a[2] : AT_FDCWD, a[at ? 3 : 1], NAME_ONLY, false, &to);
  if (!error && (to.exists || !to.name[0])) error = -EEXIST;
  if (!error && to.must_be_dir) error = -ENOENT;
  if (!error && S_ISDIR(from.st.st_mode)) error = -EPERM;
  if (!error) {
    /* A second name for a file is a way to read and write it. */
    uint32_t rule = refusal_of(b, &from, OP_READ | OP_WRITE);
    const char *path = from.path;
    if (!rule) rule = refusal_of(b, &to, OP_WRITE), path = to.path;
    if (!rule && S_ISLNK(from.st.st_mode)) rule = find_rename_refusal(b, to.path, to.path, true);
    if (rule) note_refusal(b, "link", path, rule, EACCES), error = -EACCES;
  }
  if (!error) {
    object_link(&from, link);
    pthread_mutex_lock(&b->names_lock);
    if (S_ISLNK(from.st.st_mode)) error = linkat(from.parent, from.name, to.parent, to.name, 0) ? -errno : 0;
    else error = linkat(AT_FDCWD, link, to.parent, to.name, AT_SYMLINK_FOLLOW) ? -errno : 0;
    pthread_mutex_unlock(&b->names_lock);
    note_kernel_refusal(b, "link", to.path, OP_WRITE, error);
    if (!error) guard_note(b, &to);
  }
  release(&from);
  release(&to);
  answer(r, 0, error);
}

/* ---- attributes: the kernel's file layers leave these open, so what is not granted is refused here ---- */

static int set_times(const struct request *r, struct target *t, const struct timespec *times) {
  if (t->parent >= 0) return utimensat(t->parent, t->name, times, AT_SYMLINK_NOFOLLOW) ? -errno : 0;
  char link[32];
  (void)r;
  object_link(t, link);
  return utimensat(AT_FDCWD, link, times, 0) ? -errno : 0;
}

static int read_times(const struct request *r, struct timespec *out, bool *has_times) {
  uint64_t address = r->args[r->nr == SYS_utimensat ? 2 : 1];
  int error;
#ifdef SYS_futimesat
  if (r->nr == SYS_futimesat) address = r->args[2];
#endif
  *has_times = address != 0;
  if (!address) return 0;
  if (r->nr == SYS_utimensat) return fetch_bytes(r, address, out, 2 * sizeof *out);
#ifdef SYS_utime
  if (r->nr == SYS_utime) {
    struct utimbuf old;
    error = fetch_bytes(r, address, &old, sizeof old);
    out[0] = (struct timespec){old.actime, 0};
    out[1] = (struct timespec){old.modtime, 0};
    return error;
  }
#endif
  struct timeval old[2];
  error = fetch_bytes(r, address, old, sizeof old);
  for (int i = 0; i < 2; i++) {
    if (!error && (old[i].tv_usec < 0 || old[i].tv_usec > 999999)) error = -EINVAL;
    out[i] = (struct timespec){old[i].tv_sec, old[i].tv_usec * 1000};
  }
  return error;
}

static int change_times(const struct request *r, struct target *t) {
  struct timespec times[2];
  bool has_times;
  int error = read_times(r, times, &has_times);
  return error ? error : set_times(r, t, has_times ? times : NULL);
}

static int change_mode(const struct request *r, struct target *t, mode_t mode) {
  char link[32];
  if (!S_ISDIR(t->st.st_mode) && is_setuid_refused(r, mode)) return note_refusal(r->broker, "setuid", t->path, NO_RULE, EPERM), -EPERM;
  if (S_ISLNK(t->st.st_mode)) return -EOPNOTSUPP;
  object_link(t, link);
  return chmod(link, mode) ? -errno : 0;
}

/* In a user namespace an id that is not mapped is invalid; to the program it is simply not allowed. */
static int change_owner(struct target *t, uint64_t uid, uint64_t gid) {
  if (!fchownat(t->object, "", (uid_t)uid, (gid_t)gid, AT_EMPTY_PATH)) return 0;
  return errno == EINVAL ? -EPERM : -errno;
}

static int change_xattr(const struct request *r, struct target *t, bool removes) {
  char link[32], name[256];
  static __thread char value[XATTR_CAP];
  int error = fetch_string(r, r->args[1], name, sizeof name);
  if (error < 0) return error == -ENAMETOOLONG ? -ERANGE : error;
  if (S_ISLNK(t->st.st_mode)) return -EPERM;
  object_link(t, link);
  if (removes) return removexattr(link, name) ? -errno : 0;
  if (r->args[3] > sizeof value) return -E2BIG;
  error = r->args[3] ? fetch_bytes(r, r->args[2], value, r->args[3]) : 0;
  return error ? error : setxattr(link, name, value, r->args[3], (int)r->args[4]) ? -errno : 0;
}

static int change_attribute(const struct request *r, struct target *t) {
  const uint64_t *a = r->args;
  if (!t->exists) return -ENOENT;
  switch (r->nr) {
    case SYS_fchmod: return change_mode(r, t, (mode_t)a[1]);
    case SYS_fchmodat: case SYS_fchmodat2: return change_mode(r, t, (mode_t)a[2]);
    case SYS_fchown: return change_owner(t, a[1], a[2]);
    case SYS_fchownat: return change_owner(t, a[2], a[3]);
    case SYS_setxattr: case SYS_lsetxattr: case SYS_fsetxattr: return change_xattr(r, t, false);
    case SYS_removexattr: case SYS_lremovexattr: case SYS_fremovexattr: return change_xattr(r, t, true);
#ifdef SYS_chmod
    case SYS_chmod: return change_mode(r, t, (mode_t)a[1]);
    case SYS_chown: case SYS_lchown: return change_owner(t, a[1], a[2]);
    case SYS_utime: case SYS_utimes: case SYS_futimesat:
#endif
    case SYS_utimensat: return change_times(r, t);
    default: return -ENOSYS;
  }
}

/* Attribute calls on an open descriptor: a copy of it is taken, so path and file are those of the descriptor. */
static int resolve_descriptor(const struct request *r, int fd, struct target *t) {
  *t = (struct target){.parent = -1, .object = -1, .own_fd = -1};
  t->object = fetch_descriptor(r, fd);
  if (t->object < 0) return t->object;
  if (fcntl(t->object, F_GETFL) & O_PATH) return -EBADF;
  t->exists = true;
  if (fstat(t->object, &t->st)) return -errno;
  canonical_path(t->object, t->path, sizeof t->path);
  const char *slash = strrchr(t->path, '/');
  if (slash && strlen(slash + 1) < sizeof t->name && !S_ISDIR(t->st.st_mode)) strcpy(t->name, slash + 1);
  return 0;
}

static bool changes_no_time(const struct request *r) {
  struct timespec times[2];
  return r->nr == SYS_utimensat && r->args[2] && !fetch_bytes(r, r->args[2], times, sizeof times) && times[0].tv_nsec == UTIME_OMIT &&
         times[1].tv_nsec == UTIME_OMIT;
}

static void change_attributes(const struct request *r, int dirfd, uint64_t path, int flags, bool by_descriptor) {
  struct target t;
  struct broker *b = r->broker;
  if (flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) || (by_descriptor && flags)) return answer(r, 0, -EINVAL);
  if (changes_no_time(r)) return answer(r, 0, 0);
  if (by_descriptor && dirfd == AT_FDCWD) return answer(r, 0, -EFAULT);
  int error = by_descriptor ? resolve_descriptor(r, dirfd, &t)
                            : resolve_argument(r, dirfd, path, flags & AT_SYMLINK_NOFOLLOW ? 0 : FOLLOW, flags & AT_EMPTY_PATH, &t);
  if (!error && !t.exists) error = -ENOENT;
  if (!error) {
    uint32_t rule = refusal_of(b, &t, OP_WRITE);
    if (!rule && !is_covered(b, t.path, OP_WRITE)) rule = NO_RULE;
    if (rule) note_refusal(b, "attributes", t.path, rule, EACCES), error = rule == NO_RULE ? -EPERM : -EACCES;
    else error = change_attribute(r, &t);
  }
  release(&t);
  answer(r, 0, error);
}

void perform_path_call(const struct request *r) {
  const uint64_t *a = r->args;
  switch (r->nr) {
    case SYS_mkdirat: return change_one(r, "create", (int)a[0], a[1], make_dir, NAME_ONLY, CREATES);
    case SYS_mknodat: return change_one(r, "create", (int)a[0], a[1], make_node, NAME_ONLY, CREATES);
    case SYS_symlinkat: return change_one(r, "create", (int)a[1], a[2], make_link, NAME_ONLY, CREATES);
    case SYS_unlinkat: return change_one(r, "remove", (int)a[0], a[1], remove_at, NAME_ONLY, 0);
    case SYS_truncate: return change_one(r, "write", AT_FDCWD, a[0], set_length, FOLLOW, 0);
#ifdef SYS_mkdir
    case SYS_mkdir: return change_one(r, "create", AT_FDCWD, a[0], make_dir, NAME_ONLY, CREATES);
    case SYS_mknod: return change_one(r, "create", AT_FDCWD, a[0], make_node, NAME_ONLY, CREATES);
    case SYS_symlink: return change_one(r, "create", AT_FDCWD, a[1], make_link, NAME_ONLY, CREATES);
    case SYS_unlink: return change_one(r, "remove", AT_FDCWD, a[0], remove_file, NAME_ONLY, 0);
    case SYS_rmdir: return change_one(r, "remove", AT_FDCWD, a[0], remove_dir, NAME_ONLY, 0);
    case SYS_rename:
#endif
#ifdef SYS_renameat
    case SYS_renameat:
#endif
    case SYS_renameat2: return perform_rename(r);
#ifdef SYS_link
    case SYS_link:
#endif
    case SYS_linkat: return perform_link(r);
#ifdef SYS_chmod
    case SYS_utimes:
    case SYS_chmod: case SYS_chown: case SYS_utime: return change_attributes(r, AT_FDCWD, a[0], 0, false);
    case SYS_lchown: return change_attributes(r, AT_FDCWD, a[0], AT_SYMLINK_NOFOLLOW, false);
    case SYS_futimesat: return change_attributes(r, (int)a[0], a[1], 0, !a[1]);
#endif
    case SYS_fchmodat: return change_attributes(r, (int)a[0], a[1], 0, false);
    case SYS_fchmodat2: return change_attributes(r, (int)a[0], a[1], (int)a[3], false);
    case SYS_fchownat: return change_attributes(r, (int)a[0], a[1], (int)a[4], false);
    case SYS_utimensat: return change_attributes(r, (int)a[0], a[1], (int)a[3], !a[1]);
    case SYS_setxattr: case SYS_removexattr: return change_attributes(r, AT_FDCWD, a[0], 0, false);
    case SYS_lsetxattr: case SYS_lremovexattr: return change_attributes(r, AT_FDCWD, a[0], AT_SYMLINK_NOFOLLOW, false);
    case SYS_fchmod: case SYS_fchown: case SYS_fsetxattr: case SYS_fremovexattr: return change_attributes(r, (int)a[0], 0, 0, true);
    default: return answer(r, 0, -ENOSYS);
  }
}
