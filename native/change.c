/* Calls that change what a path names: make, remove, move, link, cut. */
#define _GNU_SOURCE
#include "broker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { CREATES = 1 };
#define MAX_TRIES 40 /* as often as what is judged may be another thing by the time it is to be done */

static int make_entry(const struct request *r, struct target *t, int (*make)(const struct request *, struct target *)) {
  struct broker *b = r->broker;
  if (t->exists || !t->name[0]) return -EEXIST;
  if (!may_create(b)) return note_refusal(r, "limit-files", t->path, NO_RULE, EDQUOT), -EDQUOT;
  use_umask_of(r);
  int error = make(r, t);
  let_mask_go();
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
  int error = mknodat(t->parent, t->name, mode, (dev_t)r->args[at ? 3 : 2]) ? -errno : 0;
  /* Device 0:0, which stands for nothing, anybody may make; Landlock lets no device be made, whatever is granted. */
  if (error == -EACCES && (S_ISCHR(mode) || S_ISBLK(mode)) && !faccessat(t->parent, ".", W_OK | X_OK, 0))
    record_fact(r, (struct fact){.op = "mknod", .path = t->path, .rule = NO_RULE, .error = EACCES, .flags = FACT_KERNEL});
  return error;
}

static int make_link(const struct request *r, struct target *t) {
  if (t->must_be_dir) return -ENOENT;
  return symlinkat(r->attempt->link_text, t->parent, t->name) ? -errno : 0;
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
  uint32_t rule = guard_refuses_removal(r->broker, t) ? GUARD_RULE : flags & AT_REMOVEDIR ? find_rmdir_refusal(r->broker, t->path) : 0;
  if (rule) return note_refusal(r, flags & AT_REMOVEDIR ? "rmdir" : "unlink", t->path, rule, EACCES), -EACCES;
  return unlinkat(t->parent, t->name, flags) ? -errno : 0;
}

static int set_length(const struct request *r, struct target *t) {
  char link[32];
  if ((off_t)r->args[1] < 0) return -EINVAL;
  if (!t->exists) return -ENOENT;
  object_link(t, link);
  if (!S_ISREG(t->st.st_mode)) return truncate(link, (off_t)r->args[1]) ? -errno : 0;
  int fd = open(link, O_WRONLY | O_NONBLOCK | O_CLOEXEC); /* truncate() would wait for a lease */
  if (fd < 0) return errno == EAGAIN ? LEASED : -errno;
  bool is_signalled = is_too_long(r, t, (off_t)r->args[1]);
  int error = is_signalled ? -EFBIG : ftruncate(fd, (off_t)r->args[1]) ? -errno : 0;
  close(fd);
  if (is_signalled) syscall(SYS_tgkill, thread_group(r->tid), r->tid, SIGXFSZ);
  return error;
}

/* A call that takes one path and changes what it names. */
struct one_change {
  const char *op;
  int dirfd;
  uint64_t path;
  int (*change)(const struct request *, struct target *);
  int follow, kind;
};

/* -EAGAIN when the path means something else by now. What was done is to be recorded before the name is let go. */
static int try_change(const struct request *r, const struct one_change *c, struct target *t, struct name_hold *hold) {
  int error = resolve_argument(r, c->dirfd, c->path, c->follow, false, t);
  if (error) return error;
  uint32_t rule = refusal_of(r->broker, t, OP_WRITE);
  /* A symbolic link at the head of a protected name would stand in for a directory that holds one. */
  if (!rule && c->change == make_link) rule = find_rename_refusal(r->broker, t->path, t->path, true);
  if (c->kind & CREATES && t->exists) return -EEXIST;
  if (rule) return note_refusal(r, c->op, t->path, rule, EACCES), -EACCES;
  hold_names(r->broker, t->path, NULL, hold);
  if (has_moved(t)) error = -EAGAIN;
  else error = c->kind & CREATES ? make_entry(r, t, c->change) : c->change(r, t);
  if (!rule) note_kernel_refusal(r, c->op, t->path, OP_WRITE, error);
  return error;
}

/* False while a lease is in the way. */
static bool change_once(const struct request *r, const char *op, int dirfd, uint64_t path, int (*change)(const struct request *, struct target *),
                        int follow, int kind) {
  struct one_change c = {op, dirfd, path, change, follow, kind};
  struct name_hold hold = {0};
  struct target t;
  char text[4096] = "";
  clear_target(&t);
  int len = change == make_link ? fetch_string(r, r->args[0], text, sizeof text) : 1; /* once: it may be another text later */
  int error = len < 0 ? len : len == 0 ? -ENOENT : -EAGAIN;
  r->attempt->link_text = text;
  for (int tries = 0; error == -EAGAIN && tries < MAX_TRIES; tries++) {
    release(&t);
    let_names_go(&hold);
    error = try_change(r, &c, &t, &hold);
  }
  if (error == -EAGAIN) error = -EBUSY;
  if (error == LEASED) return let_names_go(&hold), release(&t), false;
  if (!error && !(kind & CREATES) && t.exists && S_ISDIR(t.st.st_mode)) forget_places(r->broker); /* its number is free again */
  bool is_dir = change == make_dir || (t.exists && S_ISDIR(t.st.st_mode));
  note_outcome(r, (struct fact){.op = op, .path = t.path, .target = text, .error = -error, .flags = is_dir ? FACT_DIRECTORY : 0,
                                .before = !error && t.exists ? &t.st : NULL});
  let_names_go(&hold);
  release(&t);
  answer(r, 0, error);
  return true;
}

static void change_one(const struct request *r, const char *op, int dirfd, uint64_t path, int (*change)(const struct request *, struct target *),
                       int follow, int kind) {
  change_once(r, op, dirfd, path, change, follow, kind);
}

static bool truncate_once(const struct request *r) { return change_once(r, "truncate", AT_FDCWD, r->args[0], set_length, FOLLOW, 0); }

#ifdef SYS_unlink
static int remove_file(const struct request *r, struct target *t) { return remove_entry(r, t, 0); }
static int remove_dir(const struct request *r, struct target *t) { return remove_entry(r, t, AT_REMOVEDIR); }
#endif
static int remove_at(const struct request *r, struct target *t) {
  return (int)r->args[2] & ~AT_REMOVEDIR ? -EINVAL : remove_entry(r, t, (int)r->args[2]);
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
  if (rule) return note_refusal(r, "rename", path, rule, EACCES), -EACCES;
  /* Nothing is protected in the private tmp, so a directory from there is copied file by file, not moved as it is. */
  if (S_ISDIR(from->st.st_mode) && is_in_private_tmp(b, from->path) != is_in_private_tmp(b, to->path)) return -EXDEV;
  return 0;
}

/* An exchange is two moves; between two names of one file there is none. A whiteout is a device at the old name. */
static void note_rename(const struct request *r, const struct target *from, const struct target *to, int error, unsigned how) {
  bool is_exchange = how & 2, is_same = to->exists && to->st.st_dev == from->st.st_dev && to->st.st_ino == from->st.st_ino;
  uint32_t flags = from->exists && S_ISDIR(from->st.st_mode) ? FACT_DIRECTORY : 0;
  if (!error && is_same) flags |= FACT_STAYS;
  else if (!error && is_exchange) flags |= FACT_EXCHANGES | FACT_EACH;
  else if (!error && flags) flags |= FACT_EACH;
  if (!error && to->exists) flags |= FACT_REPLACES;
  note_outcome(r, (struct fact){.op = "rename", .path = from->path, .target = to->path, .error = error, .flags = flags,
                                .before = error ? NULL : &from->st, .replaced = !error && to->exists ? &to->st : NULL});
  if (error || is_same) return;
  if (how & 4) note_outcome(r, (struct fact){.op = "mknod", .path = from->path});
  if (!is_exchange) return;
  flags = FACT_RETURNS | FACT_EACH | FACT_REPLACES | (S_ISDIR(to->st.st_mode) ? FACT_DIRECTORY : 0);
  note_outcome(r, (struct fact){.op = "rename", .path = to->path, .target = from->path, .flags = flags});
}

/* Both paths of a call are asked for; the record keeps the first, which is the one that it names. */
static int resolve_second(const struct request *r, int dirfd, uint64_t address, struct target *t) {
  char first[sizeof r->attempt->requested];
  strcpy(first, r->attempt->requested);
  int error = resolve_argument(r, dirfd, address, NAME_ONLY, false, t);
  strcpy(r->attempt->requested, first);
  return error;
}

/* What is moved alone, without anything below it. */
static bool is_single(const struct target *from, unsigned flags) { return S_ISREG(from->st.st_mode) && !(flags & 2 /* EXCHANGE */); }

static int try_rename(const struct request *r, struct target *from, struct target *to, unsigned flags, struct name_hold *hold) {
  const uint64_t *a = r->args;
  bool has_dirs = true;
#ifdef SYS_rename
  has_dirs = r->nr != SYS_rename;
#endif
  int error = resolve_argument(r, has_dirs ? (int)a[0] : AT_FDCWD, a[has_dirs ? 1 : 0], NAME_ONLY, false, from);
  if (!error) error = resolve_second(r, has_dirs ? (int)a[2] : AT_FDCWD, a[has_dirs ? 3 : 1], to);
  if (error) return error;
  if (!from->name[0] || !to->name[0]) return from->name[0] && (flags & 1 /* NOREPLACE */) ? -EEXIST : -EBUSY;
  if (!from->exists) return -ENOENT;
  if (to->exists && (flags & 1)) return -EEXIST;
  bool is_exchange = flags & 2 /* EXCHANGE */;
  if (is_exchange && !to->exists) return -ENOENT;
  if (from->must_be_dir && !S_ISDIR(from->st.st_mode)) return -ENOTDIR;
  if (to->must_be_dir && !S_ISDIR(is_exchange ? to->st.st_mode : from->st.st_mode)) return -ENOTDIR;
  error = check_rename(r, from, to, is_exchange);
  if (error) return error;
  if (is_single(from, flags)) hold_names(r->broker, from->path, to->path, hold);
  else hold_all_names(r->broker, hold);
  /* What was judged as a file must not have become a directory that brings protected names with it. */
  if (has_moved(from) || has_moved(to)) error = -EAGAIN;
  else error = syscall(SYS_renameat2, from->parent, from->name, to->parent, to->name, flags) ? -errno : 0;
  if (!error && !is_single(from, flags)) forget_places(r->broker);
  if (!error && (S_ISDIR(from->st.st_mode) || (is_exchange && S_ISDIR(to->st.st_mode)))) atomic_fetch_add(&r->broker->move_turn, 1);
  note_kernel_refusal(r, "rename", is_covered(r->broker, from->path, OP_WRITE) ? to->path : from->path, OP_WRITE, error);
  return error;
}

typedef int try_two(const struct request *r, struct target *from, struct target *to, unsigned flags, struct name_hold *hold);

/* Until names and what they are of have stayed the same. */
static int change_two(const struct request *r, try_two *attempt, struct target *from, struct target *to, unsigned flags, struct name_hold *hold) {
  int error = -EAGAIN;
  clear_target(from);
  clear_target(to);
  for (int tries = 0; error == -EAGAIN && tries < MAX_TRIES; tries++) {
    release(from);
    release(to);
    let_names_go(hold);
    error = attempt(r, from, to, flags, hold);
  }
  if (error == -EAGAIN) error = -EBUSY;
  if (!error) guard_note(r->broker, to);
  return error;
}

static void finish_two(const struct request *r, struct target *from, struct target *to, struct name_hold *hold, int error) {
  let_names_go(hold);
  release(from);
  release(to);
  answer(r, 0, error);
}

static void perform_rename(const struct request *r) {
  struct target from, to;
  struct name_hold hold = {0};
  unsigned flags = r->nr == SYS_renameat2 ? (unsigned)r->args[4] : 0;
  /* An exchange that replaces nothing, or leaves something behind (4, WHITEOUT), is no exchange. */
  if (flags & ~7u || (flags & 2 && flags & 5)) return answer(r, 0, -EINVAL);
  int error = change_two(r, try_rename, &from, &to, flags, &hold);
  if (!error && flags & 2) guard_note(r->broker, &from);
  note_rename(r, &from, &to, -error, flags);
  finish_two(r, &from, &to, &hold, error);
}

static int try_link(const struct request *r, struct target *from, struct target *to, unsigned flags, struct name_hold *hold) {
  const uint64_t *a = r->args;
  struct broker *b = r->broker;
  bool at = r->nr == SYS_linkat;
  char link[32];
  int error = resolve_argument(r, at ? (int)a[0] : AT_FDCWD, a[at ? 1 : 0], flags & AT_SYMLINK_FOLLOW ? FOLLOW : 0, flags & AT_EMPTY_PATH, from);
  if (!error && !from->exists) error = -ENOENT;
  if (!error) error = resolve_second(r, at ? (int)a[2] : AT_FDCWD, a[at ? 3 : 1], to);
  if (error) return error;
  if (to->exists || !to->name[0]) return -EEXIST;
  if (to->must_be_dir) return -ENOENT;
  if (S_ISDIR(from->st.st_mode)) return -EPERM;
  /* A second name for a file is a way to read and write it. */
  uint32_t rule = refusal_of(b, from, OP_READ | OP_WRITE);
  const char *path = from->path;
  if (!rule) rule = refusal_of(b, to, OP_WRITE), path = to->path;
  if (!rule && S_ISLNK(from->st.st_mode)) rule = find_rename_refusal(b, to->path, to->path, true);
  if (rule) return note_refusal(r, "link", path, rule, EACCES), -EACCES;
  object_link(from, link);
  hold_names(b, from->path, to->path, hold);
  if (has_moved(from) || has_moved(to)) error = -EAGAIN;
  else if (S_ISLNK(from->st.st_mode)) error = linkat(from->parent, from->name, to->parent, to->name, 0) ? -errno : 0;
  else error = linkat(AT_FDCWD, link, to->parent, to->name, AT_SYMLINK_FOLLOW) ? -errno : 0;
  note_kernel_refusal(r, "link", to->path, OP_WRITE, error);
  return error;
}

static void perform_link(const struct request *r) {
  struct target from, to;
  struct name_hold hold = {0};
  unsigned flags = r->nr == SYS_linkat ? (unsigned)r->args[4] : 0;
  if (flags & ~(unsigned)(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH)) return answer(r, 0, -EINVAL);
  int error = change_two(r, try_link, &from, &to, flags, &hold);
  /* What had no name has got its first. */
  if (!error && has_no_name(&from)) note_outcome(r, (struct fact){.op = "create", .path = to.path});
  else note_outcome(r, (struct fact){.op = "link", .path = from.path, .target = to.path, .error = -error, .before = error ? NULL : &from.st});
  finish_two(r, &from, &to, &hold, error);
}

void perform_path_call(const struct request *r) {
  const uint64_t *a = r->args;
  switch (r->nr) {
    case SYS_mkdirat: return change_one(r, "mkdir", (int)a[0], a[1], make_dir, NAME_SEEN, CREATES);
    case SYS_mknodat: return change_one(r, "mknod", (int)a[0], a[1], make_node, NAME_SEEN, CREATES);
    case SYS_symlinkat: return change_one(r, "symlink", (int)a[1], a[2], make_link, NAME_SEEN, CREATES);
    case SYS_unlinkat: return change_one(r, (int)a[2] & AT_REMOVEDIR ? "rmdir" : "unlink", (int)a[0], a[1], remove_at, NAME_SEEN, 0);
    case SYS_truncate: return try_until_unleased(r, truncate_once, perform_path_call);
#ifdef SYS_mkdir
    case SYS_mkdir: return change_one(r, "mkdir", AT_FDCWD, a[0], make_dir, NAME_SEEN, CREATES);
    case SYS_mknod: return change_one(r, "mknod", AT_FDCWD, a[0], make_node, NAME_SEEN, CREATES);
    case SYS_symlink: return change_one(r, "symlink", AT_FDCWD, a[1], make_link, NAME_SEEN, CREATES);
    case SYS_unlink: return change_one(r, "unlink", AT_FDCWD, a[0], remove_file, NAME_SEEN, 0);
    case SYS_rmdir: return change_one(r, "rmdir", AT_FDCWD, a[0], remove_dir, NAME_SEEN, 0);
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
