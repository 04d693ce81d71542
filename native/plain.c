/* Most opens only read, and find a file plainly there or plainly absent. They need none of the care that others do: few
   calls open them, and the kernel walks the whole path. */
#define _GNU_SOURCE
#include "broker.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static int open_resolving(int base, const char *path, int flags, uint64_t resolve) {
  struct open_how_abi how = {(uint64_t)(flags & (OPENAT2_FLAGS | O_PATH)) | O_CLOEXEC, 0, resolve | RESOLVE_NO_MAGICLINKS_};
  int fd = (int)syscall(SYS_openat2, base, path, &how, sizeof how);
  return fd < 0 ? -errno : fd;
}

/* Without waiting for a lease: those who hold one are not plain either. */
static int open_at_once(int base, const char *path, int flags, uint64_t resolve) {
  int fd = open_resolving(base, path, flags | O_NONBLOCK, resolve);
  if (fd >= 0 && !(flags & O_NONBLOCK)) fcntl(fd, F_SETFL, flags);
  return fd;
}

/* Takes the steps of `path` from the directory in `out`, which has no end slash. `..` is what its text says only where
   no link was passed. */
static void append_steps(char *out, const char *path) {
  size_t len = strlen(out);
  for (const char *at = path; *(at += strspn(at, "/"));) {
    size_t step = strcspn(at, "/");
    bool is_up = step == 2 && at[0] == '.' && at[1] == '.';
    if (is_up) {
      while (len && out[--len] != '/') {
      }
    } else if (step != 1 || at[0] != '.') {
      out[len++] = '/';
      memcpy(out + len, at, step);
      len += step;
    }
    at += step;
  }
  out[len] = 0;
  if (!len) strcpy(out, "/");
}

/* The path of what was found from `base` without passing a link; none where the directory has none. */
static void describe_plain(const struct request *r, int base, const char *path, bool is_exact, struct target *t) {
  t->path[0] = 0;
  if (path[0] != '/') {
    if (is_exact) canonical_path(base, t->path, PATH_CAP / 2);
    else directory_path(r->broker, base, t->path, PATH_CAP / 2);
    if (t->path[0] != '/') return;
    if (!t->path[1]) t->path[0] = 0;
  }
  append_steps(t->path, path);
}

static bool is_plain_kind(const struct request *r, const struct stat *st) {
  return (S_ISREG(st->st_mode) || S_ISDIR(st->st_mode)) && st->st_dev != r->broker->proc_dev;
}

/* By way of links, which mean the same to us as to the caller unless they lead into /proc. */
static int open_linked(const struct request *r, int base, const char *path, int flags, struct target *t) {
  int fd = open_at_once(base, path, flags, 0);
  if (fd < 0) return -EAGAIN;
  if (fstat(fd, &t->st) || !is_plain_kind(r, &t->st)) return close(fd), -EAGAIN;
  canonical_path(fd, t->path, sizeof t->path);
  return fd;
}

/* A descriptor, -ENOENT, or -EAGAIN for all that is not plain. What the file is is looked at before it is opened: to open
   a FIFO or a device is to do something with it. */
static int find_plain(const struct request *r, int base, const char *path, int flags, struct target *t) {
  bool is_judged = r->broker->plan->flags & PLAN_READS_JUDGED; /* then what decides is asked for each time */
  const char *from_base = path + strspn(path, "/");
  if (!*from_base) return -EAGAIN;
  if (fstatat(base, from_base, &t->st, AT_SYMLINK_NOFOLLOW)) {
    int fd = errno == ENOENT ? open_resolving(base, from_base, O_PATH | O_NOFOLLOW, RESOLVE_NO_SYMLINKS_) : -EAGAIN;
    if (fd >= 0) close(fd);
    if (fd != -ENOENT) return -EAGAIN;
    describe_plain(r, base, path, is_judged, t);
    return -ENOENT;
  }
  bool is_link = S_ISLNK(t->st.st_mode);
  if (is_link && ((flags & O_NOFOLLOW) || fstatat(base, from_base, &t->st, 0))) return -EAGAIN;
  if (!is_plain_kind(r, &t->st)) return -EAGAIN;
  int fd = is_link ? -ELOOP : open_at_once(base, from_base, flags, RESOLVE_NO_SYMLINKS_);
  if (fd == -ELOOP) return open_linked(r, base, from_base, flags, t);
  if (fd < 0) return -EAGAIN;
  if (is_judged) canonical_path(fd, t->path, sizeof t->path);
  else describe_plain(r, base, path, false, t);
  return fd;
}

/* A descriptor or an error; -EAGAIN for what is to be resolved with care. */
int open_plainly(const struct request *r, int dirfd, int flags, struct target *t) {
  const char *path = r->attempt->requested;
  if ((flags & (O_ACCMODE | O_CREAT | O_TRUNC)) || (flags & O_TMPFILE) == O_TMPFILE) return -EAGAIN;
  int base = open_base(r, dirfd, path);
  if (base < 0) return -EAGAIN;
  int fd = find_plain(r, base, path, (flags & OPENAT2_FLAGS) | O_NOCTTY, t);
  close_base(r, base);
  if (fd == -EAGAIN) return fd;
  if (t->path[0] != '/') { /* too deep to have a name, so it is neither judged nor told */
    if (fd >= 0) close(fd);
    return -EAGAIN;
  }
  t->exists = fd >= 0;
  uint32_t rule = r->broker->plan->flags & PLAN_READS_JUDGED ? refusal_of(r->broker, t, OP_READ) : 0;
  if (!rule) return fd;
  if (fd >= 0) close(fd);
  return note_refusal(r, "read", t->path, rule, EACCES), -EACCES;
}
