/* Opening files for the program. */
#define _GNU_SOURCE
#include "broker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

struct open_call {
  int dirfd, flags;
  uint64_t path;
  mode_t mode;
};

/* A later version of the structure may be longer; what this one does not know must be zero. */
static int read_open_how(const struct request *r, struct open_how_abi *how) {
  unsigned char bytes[4096];
  size_t size = r->args[3];
  if (size < sizeof *how) return -EINVAL;
  if (size > sizeof bytes) return -E2BIG;
  int error = fetch_bytes(r, r->args[2], bytes, size);
  if (error) return error;
  for (size_t i = sizeof *how; i < size; i++)
    if (bytes[i]) return -E2BIG;
  memcpy(how, bytes, sizeof *how);
  return 0;
}

static int read_open_call(const struct request *r, struct open_call *call) {
  const uint64_t *a = r->args;
#ifdef SYS_open
  if (r->nr == SYS_open) return *call = (struct open_call){AT_FDCWD, (int)a[1], a[0], (mode_t)a[2]}, 0;
  if (r->nr == SYS_creat) return *call = (struct open_call){AT_FDCWD, O_CREAT | O_WRONLY | O_TRUNC, a[0], (mode_t)a[1]}, 0;
#endif
  if (r->nr == SYS_openat) return *call = (struct open_call){(int)a[0], (int)a[2], a[1], (mode_t)a[3]}, 0;
  struct open_how_abi how;
  int error = read_open_how(r, &how);
  if (error) return error;
  /* A caller that asks for special resolution has a fallback for kernels that lack this call. O_PATH descriptors cannot be
     handed over, and the flags are in memory that may change, so neither can it be left to the kernel. */
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
  char path[64], text[STAT_CAP];
  int terminal = 0;
  if (getsid(r->tid) == getsid(0)) return open("/dev/tty", flags);
  if (sscanf(read_stat(thread_group(r->tid), text), "%*c %*d %*d %*d %d", &terminal) != 1 || !terminal) return errno = ENXIO, -1;
  snprintf(path, sizeof path, "/dev/pts/%u", minor((dev_t)terminal));
  return open(path, flags);
}

static int open_with(const struct request *r, const struct open_call *call, const struct target *t, int flags) {
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

/* A file is never waited for here, which a lease would have us do. */
static int open_target(const struct request *r, const struct open_call *call, const struct target *t) {
  int flags = (call->flags & ~O_CLOEXEC) | O_CLOEXEC | O_NOCTTY;
  bool is_hurried = t->exists && S_ISREG(t->st.st_mode) && !(call->flags & O_NONBLOCK);
  int fd = open_with(r, call, t, is_hurried ? flags | O_NONBLOCK : flags);
  if (fd >= 0 && is_hurried) fcntl(fd, F_SETFL, flags);
  return fd;
}

/* What the program was started with, the keeper has as well. */
static int copy_inherited(const struct target *t) {
  struct stat st;
  for (int fd = 0; fd < 3; fd++)
    if (!fstat(fd, &st) && st.st_dev == t->st.st_dev && st.st_ino == t->st.st_ino) return fcntl(fd, F_DUPFD_CLOEXEC, 3);
  return -EACCES;
}

/* A descriptor that the caller holds may be named by /dev/stdout and the like; where the file itself is out of bounds,
   the caller gets the very descriptor again, which grants nothing new. */
static int duplicate_own(const struct request *r, const struct open_call *call, const struct target *t) {
  if (t->own_fd < 0) return -EACCES;
  int fd = can_copy(r) ? fetch_descriptor(r, t->own_fd) : copy_inherited(t);
  if (fd < 0) return fd;
  int have = fcntl(fd, F_GETFL) & O_ACCMODE, want = call->flags & O_ACCMODE;
  if (have == O_RDWR || have == want) return fd;
  close(fd);
  return -EACCES;
}

static bool is_new_name(const struct open_call *call, const struct target *t) { return !t->exists && (call->flags & O_CREAT); }

static bool may_block(const struct open_call *call, const struct target *t) {
  return t->exists && S_ISFIFO(t->st.st_mode) && !(call->flags & O_NONBLOCK) && (call->flags & O_ACCMODE) != O_RDWR;
}

/* What is there, or not, may be another thing since it was looked at: with O_CREAT a file would be made that counts as one
   that was there. While the name is held, nothing inside does that any more. */
static bool is_still_there(const struct target *t) {
  struct stat st;
  return !t->exists || t->parent < 0 || (!fstatat(t->parent, t->name, &st, AT_SYMLINK_NOFOLLOW) && st.st_dev == t->st.st_dev && st.st_ino == t->st.st_ino);
}

/* In a sandbox that has a holder, a program that was started ahead waits for its code: see native/inside.c. */
static bool is_code_there_now(const struct open_call *call, const struct target *t) {
  return is_report_in_memory && may_block(call, t) && !strncmp(t->path, CODE_PLACE "/", sizeof CODE_PLACE) && !is_still_there(t);
}

/* A directory above may have been moved since its path was judged: what was opened is judged by the path that it has now. */
static int refuse_moved(const struct request *r, const struct target *t, uint32_t ops, int fd) {
  struct target now = {.parent = -1, .object = fd, .own_fd = -1, .exists = true};
  canonical_path(fd, now.path, sizeof now.path);
  if (!strcmp(now.path, t->path) || now.path[0] != '/' || fstat(fd, &now.st)) return 0;
  uint32_t rule = refusal_of(r->broker, &now, ops);
  if (!rule) return 0;
  close(fd);
  return note_refusal(r, ops & OP_WRITE ? "write" : "read", now.path, rule, EACCES), -EACCES;
}

/* Returns a descriptor, an error, or -EAGAIN when a link took the place of the file and all is to be done again. While a
   name is held, no directory is moved. */
static int open_checked(const struct request *r, const struct open_call *call, const struct target *t, bool is_held) {
  struct broker *b = r->broker;
  uint32_t ops = open_ops(call, t->exists), rule = refusal_of(b, t, ops);
  const char *op = ops & OP_WRITE ? "write" : "read";
  if (rule == NO_RULE && t->own_fd >= 0) return duplicate_own(r, call, t);
  if (rule) return note_refusal(r, op, t->path, rule, EACCES), -EACCES;
  if (!t->exists && !(call->flags & O_CREAT)) return -ENOENT;
  bool creates = !t->exists || (call->flags & O_TMPFILE) == O_TMPFILE;
  if (creates && !may_create(b)) return note_refusal(r, "limit-files", t->path, NO_RULE, EDQUOT), -EDQUOT;
  if (creates && is_setuid_refused(r, call->mode)) return note_refusal(r, "setuid", t->path, NO_RULE, EPERM), -EPERM;
  /* Truncating waits until what was opened is known to be what was checked. */
  struct open_call plain = *call;
  bool truncates = t->exists && (call->flags & O_TRUNC) && (call->flags & O_ACCMODE) != O_RDONLY && S_ISREG(t->st.st_mode);
  if (truncates) plain.flags &= ~O_TRUNC;
  if (is_new_name(call, t)) plain.flags |= O_EXCL; /* so that it is known who made it */
  if ((creates || truncates) && !has_free_number(r)) return -EMFILE;
  if (creates) use_umask_of(r);
  int fd = open_target(r, &plain, t), error = fd < 0 ? -errno : 0;
  let_mask_go();
  if (error == -EAGAIN) return LEASED;
  if (error == -ELOOP && !(call->flags & O_NOFOLLOW)) return -EAGAIN;
  if (error == -EEXIST && plain.flags != call->flags && !(call->flags & O_EXCL)) return -EAGAIN;
  if (error == -EACCES && t->own_fd >= 0) return duplicate_own(r, call, t);
  if (error) return note_kernel_refusal(r, op, t->path, ops, error), error;
  if (!is_held && (error = refuse_moved(r, t, ops, fd))) return error;
  if (truncates && ftruncate(fd, 0)) {
    error = -errno;
    close(fd);
    return note_kernel_refusal(r, op, t->path, ops, error), error;
  }
  if (creates) guard_note(b, t);
  return fd;
}

/* A file that is made without a name: none of its own, and one line for all in that directory, which has to be writable. */
static void note_nameless(const struct request *r, const struct target *dir) {
  char path[PATH_CAP + 16];
  snprintf(path, sizeof path, "%s/#0 (deleted)", dir->path[1] ? dir->path : "");
  note_outcome(r, (struct fact){.op = "write", .path = path});
}

/* What kind of opening it was, as the record has it. */
static void note_open(const struct request *r, const struct open_call *call, const struct target *t, int error) {
  if (!error && (call->flags & O_TMPFILE) == O_TMPFILE) return note_nameless(r, t);
  if (!error && has_no_name(t)) return;
  uint32_t ops = open_ops(call, t->exists);
  bool is_write = ops & OP_WRITE;
  struct fact fact = {.op = !is_write ? "read" : error || t->exists ? "write" : "create", .path = t->path, .error = error};
  if (t->exists && S_ISDIR(t->st.st_mode)) fact.flags = FACT_DIRECTORY;
  if (is_write && !error && t->exists) {
    if (S_ISREG(t->st.st_mode)) fact.before = &t->st;
    else fact.flags |= FACT_STAYS;
  }
  note_outcome(r, fact);
}

/* Does it make or change something that has a name? */
static bool is_change(const struct open_call *call, const struct target *t) {
  return (open_ops(call, t->exists) & OP_WRITE) && (!t->exists || S_ISREG(t->st.st_mode));
}

/* `turn` is that of the places when `t` was resolved. -EAGAIN when it means something else by now. A change is in the
   record before anybody else gets at the name. */
static int open_in_order(const struct request *r, const struct open_call *call, const struct target *t, uint32_t turn) {
  struct name_hold hold = {0};
  if (!is_change(call, t)) return open_checked(r, call, t, false);
  hold_names(r->broker, t->path, NULL, &hold);
  bool is_unsure = t->parent < 0 || turn != atomic_load(&r->broker->place_turn);
  bool is_other = is_unsure ? has_moved(t) : !is_still_there(t);
  int fd = is_other ? -EAGAIN : open_checked(r, call, t, t->parent >= 0);
  if (fd >= 0) note_open(r, call, t, 0); /* it is done, whether or not the caller will get its descriptor */
  let_names_go(&hold);
  return fd;
}

/* An ordinary file shows nothing of a copy of ours but to calls that wait until it is closed, see copies.c. A run without a
   record does not hand all of those over; only receivers keep count of their copies; and what can be executed already is
   executed without waiting. */
static bool is_ordinary(const struct request *r, const struct open_call *call, const struct target *t) {
  mode_t mode = t->exists ? t->st.st_mode : call->flags & O_CREAT ? S_IFREG | (call->mode & 07777) : 0;
  bool is_on_proc = t->exists && t->st.st_dev == r->broker->proc_dev;
  return S_ISREG(mode) && !(mode & 0111) && !is_on_proc && r->broker->plan->flags & PLAN_RECORD && !is_in_own_thread();
}

static bool is_executable(int fd) {
  struct stat st;
  return fstat(fd, &st) || st.st_mode & 0111;
}

/* Hands over what was opened and tells of it. Our own copy is closed before the caller goes on, which could notice it:
   a FIFO would have one more end. Where it shows nothing of that kind, the file is handed over together with the answer,
   which saves the caller to be woken up twice. */
static void hand_over(const struct request *r, const struct open_call *call, const struct target *t, int fd, bool is_at_once) {
  bool is_writable = (call->flags & O_ACCMODE) != O_RDONLY;
  if (is_at_once) copy_is_out(is_writable);
  if (is_at_once && is_writable && is_executable(fd)) copy_is_closed(is_writable), is_at_once = false; /* made so since it was looked at */
  if (is_at_once) atomic_fetch_add(&r->broker->unrecorded, 1);
  int number = is_at_once ? give_answer(r, fd, call->flags & O_CLOEXEC) : give_descriptor(r, fd, call->flags & O_CLOEXEC);
  close(fd);
  if (is_at_once) copy_is_closed(is_writable);
  if (!is_change(call, t) && number != -ENOENT) note_open(r, call, t, number < 0 ? -number : 0);
  if (is_at_once) atomic_fetch_sub(&r->broker->unrecorded, 1);
  if (!is_at_once || number < 0) answer(r, number, number);
}

/* To write to a FIFO that somebody reads from, or waits to read from. -ENXIO: it has to be waited for. */
static int open_without_waiting(const struct request *r, const struct open_call *call, const struct target *t) {
  struct open_call hurried = *call;
  if ((call->flags & O_ACCMODE) != O_WRONLY) return -ENXIO;
  hurried.flags |= O_NONBLOCK;
  int fd = open_checked(r, &hurried, t, false);
  if (fd >= 0) fcntl(fd, F_SETFL, call->flags);
  return fd;
}

/* No file is made of a name with a slash behind it, whatever has that name. */
static int refuse_place(const struct request *r, const struct open_call *call, struct target *t) {
  int error = resolve_fetched(r, call->dirfd, NAME_SEEN, false, t);
  release(t);
  return error == -EAGAIN || error >= 0 ? -EISDIR : error;
}

/* False while a lease is in the way. */
static bool open_and_answer(const struct request *r) {
  bool is_own_thread = is_in_own_thread();
  struct open_call call;
  struct target t;
  int fd = read_open_call(r, &call);
  if (fd < 0) return answer(r, 0, fd), true;
  bool is_exclusive = (call.flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL);
  int len = fetch_path(r, call.path);
  if (len < 0) return answer(r, 0, len), true;
  bool is_place = (call.flags & O_CREAT) && len > 0 && r->attempt->requested[len - 1] == '/';
  clear_target(&t);
  fd = is_place ? refuse_place(r, &call, &t) : open_plainly(r, call.dirfd, call.flags, &t);
  bool is_plain = fd >= 0 && !is_own_thread; /* only receivers keep count of their copies */
  for (int attempt = 0; fd == -EAGAIN && attempt < 40; attempt++) {
    uint32_t turn = atomic_load(&r->broker->place_turn);
    fd = resolve_fetched(r, call.dirfd, !(call.flags & O_NOFOLLOW) && !is_exclusive, false, &t);
    if (fd < 0) break;
    bool is_blocked = !is_own_thread && may_block(&call, &t);
    fd = is_blocked ? open_without_waiting(r, &call, &t) : open_in_order(r, &call, &t, turn);
    if (is_blocked && fd == -ENXIO) {
      release(&t);
      if (!in_own_thread(r, perform_open)) answer(r, 0, -ENFILE);
      return true;
    }
    if (fd == -EINTR && is_disturbed_in_vain(r)) fd = -EAGAIN, attempt = 0;
    if (fd >= 0 && is_own_thread && is_code_there_now(&call, &t)) {
      close(fd);
      fd = -EAGAIN;
    }
    release(&t);
  }
  if (fd >= 0) return hand_over(r, &call, &t, fd, is_plain || is_ordinary(r, &call, &t)), true;
  if (fd == LEASED && S_ISREG(t.st.st_mode) && !(call.flags & O_NONBLOCK)) return false;
  if (fd == -EAGAIN) fd = -ELOOP;
  if (fd == LEASED) fd = -EAGAIN;
  note_open(r, &call, &t, -fd);
  answer(r, 0, fd);
  return true;
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
    if (fd < 0) note_kernel_refusal(r, "read", t.path, OP_READ, -errno);
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
  try_until_unleased(r, open_and_answer, perform_open);
}
