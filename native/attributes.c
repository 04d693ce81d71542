/* Modes, owners, times and extended attributes. The kernel's file layers leave these open, so what is not granted is
   refused here. */
#define _GNU_SOURCE
#include "broker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

#define XATTR_CAP 65536
#define MAX_TRIES 40

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
  if (!S_ISDIR(t->st.st_mode) && is_setuid_refused(r, mode)) return note_refusal(r, "setuid", t->path, NO_RULE, EPERM), -EPERM;
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
  clear_target(t);
  t->object = fetch_descriptor(r, fd);
  if (t->object < 0) return t->object;
  if (fetch_flags(r, fd, t->object) & O_PATH) return -EBADF;
  t->exists = true;
  if (fstat(t->object, &t->st)) return -errno;
  canonical_path(t->object, t->path, sizeof t->path);
  if (!t->path[0]) return -ENAMETOOLONG; /* moved to where it has no name */
  const char *slash = strrchr(t->path, '/');
  if (slash && strlen(slash + 1) < sizeof t->name && !S_ISDIR(t->st.st_mode)) strcpy(t->name, slash + 1);
  return 0;
}

static bool changes_no_time(const struct request *r) {
  struct timespec times[2];
  return r->nr == SYS_utimensat && r->args[2] && !fetch_bytes(r, r->args[2], times, sizeof times) && times[0].tv_nsec == UTIME_OMIT &&
         times[1].tv_nsec == UTIME_OMIT;
}

static const char *attribute_op(int nr) {
  switch (nr) {
#ifdef SYS_chmod
    case SYS_chmod:
#endif
    case SYS_fchmod: case SYS_fchmodat: case SYS_fchmodat2: return "chmod";
#ifdef SYS_chown
    case SYS_chown: case SYS_lchown:
#endif
    case SYS_fchown: case SYS_fchownat: return "chown";
    case SYS_setxattr: case SYS_lsetxattr: case SYS_fsetxattr: case SYS_removexattr: case SYS_lremovexattr: case SYS_fremovexattr: return "xattr";
    default: return "utimes";
  }
}

/* The mode that a chmod asks for: whether something becomes executable is worth knowing. */
static unsigned requested_mode(const struct request *r) {
  bool is_second = r->nr == SYS_fchmod;
#ifdef SYS_chmod
  is_second |= r->nr == SYS_chmod;
#endif
  return (unsigned)r->args[is_second ? 1 : 2] & 07777;
}

static int resolve_changed(const struct request *r, int dirfd, uint64_t path, int flags, bool by_descriptor, struct target *t) {
  int error = by_descriptor ? resolve_descriptor(r, dirfd, t)
                            : resolve_argument(r, dirfd, path, flags & AT_SYMLINK_NOFOLLOW ? 0 : FOLLOW, flags & AT_EMPTY_PATH, t);
  return !error && !t->exists ? -ENOENT : error;
}

/* Resolves, and holds the name. Where names are moved all the time, it is the one that it had. */
static int resolve_held(const struct request *r, int dirfd, uint64_t path, int flags, bool by_descriptor, struct target *t, struct name_hold *hold) {
  for (int tries = 0;; tries++) {
    int error = resolve_changed(r, dirfd, path, flags, by_descriptor, t);
    if (error) return error;
    hold_names(r->broker, t->path, NULL, hold);
    if (tries == MAX_TRIES || !has_moved(t)) return 0;
    let_names_go(hold);
    release(t);
  }
}

/* By its mode, or by a list of who may do what. */
static bool may_make_executable(const struct request *r) {
  const char *op = attribute_op(r->nr);
  return !strcmp(op, "xattr") || (!strcmp(op, "chmod") && requested_mode(r) & 0111);
}

void change_attributes(const struct request *r, int dirfd, uint64_t path, int flags, bool by_descriptor) {
  struct target t;
  struct broker *b = r->broker;
  struct name_hold hold = {0};
  const char *op = attribute_op(r->nr);
  char mode[16] = "";
  clear_target(&t);
  if (flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) || (by_descriptor && flags)) return answer(r, 0, -EINVAL);
  if (changes_no_time(r)) return answer(r, 0, 0);
  if (by_descriptor && dirfd == AT_FDCWD) return answer(r, 0, -EFAULT);
  if (may_make_executable(r)) wait_for_writers();
  int error = resolve_held(r, dirfd, path, flags, by_descriptor, &t, &hold);
  if (!error) {
    uint32_t rule = refusal_of(b, &t, OP_WRITE);
    if (!rule && !is_covered(b, t.path, OP_WRITE)) rule = NO_RULE;
    if (rule) note_refusal(r, op, t.path, rule, EACCES), error = rule == NO_RULE ? -EPERM : -EACCES;
    else error = change_attribute(r, &t);
  }
  if (!strcmp(op, "chmod")) snprintf(mode, sizeof mode, "%04o", requested_mode(r));
  if (!has_no_name(&t))
    note_outcome(r, (struct fact){.op = op, .path = t.path, .target = mode, .error = -error,
                                  .flags = t.exists && S_ISDIR(t.st.st_mode) ? FACT_DIRECTORY : 0, .before = error ? NULL : &t.st});
  let_names_go(&hold);
  release(&t);
  answer(r, 0, error);
}
