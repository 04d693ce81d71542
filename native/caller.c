/* What is the caller's: its memory, its descriptors, its limits. */
#define _GNU_SOURCE
#include "broker.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* The filter of an engine around us may refuse the call for it, and the kernel both ways (Yama). */
static ssize_t read_memory(const struct request *r, uint64_t address, void *out, size_t len) {
  struct iovec local = {out, len}, remote = {(void *)(uintptr_t)address, len};
  char path[32];
  ssize_t got = process_vm_readv(r->tid, &local, 1, &remote, 1, 0);
  if (got >= 0 || (errno != EPERM && errno != ENOSYS)) return got;
  snprintf(path, sizeof path, "/proc/%d/mem", r->tid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  got = pread(fd, out, len, (off_t)address);
  int error = errno;
  close(fd);
  bool is_gone = r->broker && !is_still_waiting(r); /* then the number may be another's */
  errno = is_gone ? ESRCH : error;
  return is_gone ? -1 : got;
}

int try_reading(pid_t child) {
  static const char mark[] = "assay";
  char got[sizeof mark];
  bool is_read = read_memory(&(struct request){.tid = child}, (uintptr_t)mark, got, sizeof got) == sizeof got;
  return is_read || errno == ESRCH || errno == ENOENT ? 0 : errno;
}

int try_copying(pid_t child, int fd) {
  int process = (int)syscall(SYS_pidfd_open, child, 0);
  int copy = process < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, process, fd, 0), error = errno;
  if (process >= 0) close(process);
  if (copy >= 0) close(copy);
  return copy >= 0 || error == ESRCH ? 0 : error;
}

/* A process may have made itself, or its image, unreadable to others. */
static int count_unread(const struct request *r) {
  if (!r->attempt->is_unread) atomic_fetch_add(&r->broker->unread, 1);
  r->attempt->is_unread = true;
  return -EPERM;
}

int fetch_bytes(const struct request *r, uint64_t address, void *out, size_t len) {
  ssize_t got = read_memory(r, address, out, len);
  if (got < 0 && (errno == EPERM || errno == EACCES)) return count_unread(r);
  return got == (ssize_t)len ? 0 : -EFAULT;
}

/* Reads up to the terminator, a page at a time: the string may end just before memory that is not mapped. */
int fetch_string(const struct request *r, uint64_t address, char *out, size_t cap) {
  for (size_t got = 0; got < cap;) {
    size_t chunk = 4096 - ((address + got) & 4095);
    if (got == 0 && chunk > 256) chunk = 256;
    if (chunk > cap - got) chunk = cap - got;
    int error = fetch_bytes(r, address + got, out + got, chunk);
    if (error) return error;
    char *nul = memchr(out + got, 0, chunk);
    if (nul) return (int)(nul - out);
    got += chunk;
  }
  return -ENAMETOOLONG;
}

bool is_still_waiting(const struct request *r) {
  uint64_t id = r->id;
  return ioctl(r->broker->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

pid_t thread_group(pid_t tid) {
  char text[256];
  int leader = (int)syscall(SYS_pidfd_open, tid, 0); /* of the first thread only, and quicker to ask for */
  if (leader >= 0) return close(leader), tid;
  read_proc(tid, "status", text, sizeof text);
  leader = (int)number_behind(text, "\nTgid:", 10);
  return leader ? leader : tid;
}

bool can_copy(const struct request *r) { return !(r->broker->plan->flags & PLAN_NO_COPIES); }

/* What the caller's descriptor is of, and nothing of how it was opened: a place for paths, and for what is changed by name. */
int open_anew(const struct request *r, int fd) {
  char link[64];
  snprintf(link, sizeof link, "/proc/%d/fd/%d", r->tid, fd);
  int found = open(link, O_PATH | O_CLOEXEC);
  if (found < 0) return errno == ENOENT ? -EBADF : errno == EACCES ? count_unread(r) : -errno;
  if (is_still_waiting(r)) return found;
  close(found);
  return -ESRCH;
}

static uint64_t mount_of(int fd) {
  struct statx st;
  return statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID_, &st) ? 0 : ((const uint64_t *)&st)[STATX_MNT_ID_WORD];
}

/* How the caller has opened what `copy` is of. The number may mean another file from one look to the next: what is told of
   one that is not ours counts for nothing. */
int fetch_flags(const struct request *r, int fd, int copy) {
  char name[32], text[512];
  unsigned flags;
  unsigned long long ino, mount;
  struct stat st;
  if (can_copy(r)) return fcntl(copy, F_GETFL);
  snprintf(name, sizeof name, "fdinfo/%d", fd);
  read_proc(r->tid, name, text, sizeof text);
  bool is_told = sscanf(text, "pos: %*d flags: %o mnt_id: %llu ino: %llu", &flags, &mount, &ino) == 3;
  return is_told && !fstat(copy, &st) && st.st_ino == ino && mount_of(copy) == mount ? (int)flags : O_PATH;
}

/* A copy of the caller's own descriptor: the same open file, so that nothing can be swapped under us. */
int fetch_descriptor(const struct request *r, int fd) {
  if (!can_copy(r)) return open_anew(r, fd);
  int known = r->attempt->pidfd, pidfd = known < 0 ? (int)syscall(SYS_pidfd_open, r->tid, PIDFD_THREAD_) : known;
  if (pidfd < 0) pidfd = (int)syscall(SYS_pidfd_open, thread_group(r->tid), 0);
  if (pidfd < 0) return -errno;
  int copy = (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0), error = errno;
  if (known < 0) close(pidfd);
  return copy >= 0 ? copy : error == EPERM ? count_unread(r) : -error;
}

static rlim_t count_descriptors(pid_t tid, rlim_t below) {
  char path[64];
  rlim_t count = 0;
  snprintf(path, sizeof path, "/proc/%d/fd", tid);
  DIR *dir = opendir(path);
  for (struct dirent *entry; dir && (entry = readdir(dir));)
    if (entry->d_name[0] != '.' && strtoull(entry->d_name, NULL, 10) < below) count++;
  if (dir) closedir(dir);
  return count;
}

/* A call that fails for want of a number changes nothing. Where the highest is free there is one. */
bool has_free_number(const struct request *r) {
  struct rlimit limit;
  if (prlimit(r->tid, RLIMIT_NOFILE, NULL, &limit) || limit.rlim_cur > INT_MAX) return true;
  if (!limit.rlim_cur) return false;
  int highest = fetch_descriptor(r, (int)limit.rlim_cur - 1);
  if (highest < 0) return true;
  close(highest);
  return count_descriptors(r->tid, limit.rlim_cur) < limit.rlim_cur;
}

/* No file of the caller's grows beyond what is allowed to it, whoever does it for it. */
bool is_too_long(const struct request *r, const struct target *t, off_t length) {
  struct rlimit limit;
  if (length <= t->st.st_size || prlimit(r->tid, RLIMIT_FSIZE, NULL, &limit)) return false;
  return limit.rlim_cur != RLIM_INFINITY && (rlim_t)length > limit.rlim_cur;
}
