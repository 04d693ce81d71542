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
#include <sys/uio.h>
#include <unistd.h>

int fetch_bytes(const struct request *r, uint64_t address, void *out, size_t len) {
  struct iovec local = {out, len}, remote = {(void *)(uintptr_t)address, len};
  ssize_t got = process_vm_readv(r->tid, &local, 1, &remote, 1, 0);
  if (got == (ssize_t)len) return 0;
  return got < 0 && errno == EPERM ? -EPERM : -EFAULT;
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
  char path[64], text[256];
  int leader = (int)syscall(SYS_pidfd_open, tid, 0); /* of the first thread only, and quicker to ask for */
  if (leader >= 0) return close(leader), tid;
  snprintf(path, sizeof path, "/proc/%d/status", tid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return tid;
  ssize_t len = read(fd, text, sizeof text - 1);
  close(fd);
  text[len > 0 ? len : 0] = 0;
  char *line = strstr(text, "\nTgid:");
  return line ? atoi(line + 6) : tid;
}

/* A copy of the caller's own descriptor: the same open file, so that nothing can be swapped under us. */
int fetch_descriptor(const struct request *r, int fd) {
  int known = r->attempt->pidfd < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, r->attempt->pidfd, fd, 0);
  if (r->attempt->pidfd >= 0) return known < 0 ? -errno : known;
  int pidfd = (int)syscall(SYS_pidfd_open, r->tid, PIDFD_THREAD_);
  if (pidfd < 0) pidfd = (int)syscall(SYS_pidfd_open, thread_group(r->tid), 0);
  if (pidfd < 0) return -errno;
  int copy = (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);
  int error = errno;
  close(pidfd);
  return copy < 0 ? -error : copy;
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
