/* Looks for who has a socket, which is known by its number only. */
#define _GNU_SOURCE
#include "sockets.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A copy of a descriptor of somebody else's, if it is that socket; else -1. */
int copy_socket(pid_t tid, int number, ino_t ino) {
  struct stat st;
  int pidfd = (int)syscall(SYS_pidfd_open, tid, PIDFD_THREAD_);
  if (pidfd < 0) pidfd = (int)syscall(SYS_pidfd_open, thread_group(tid), 0);
  int sock = pidfd < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, pidfd, number, 0);
  if (pidfd >= 0) close(pidfd);
  if (sock < 0 || (!fstat(sock, &st) && st.st_ino == ino)) return sock;
  close(sock);
  return -1;
}

static bool search_descriptors(const char *pid, const char *tid, socket_visitor *visit, void *context) {
  char path[300], link[300];
  unsigned long long ino;
  bool has_all = false;
  snprintf(path, sizeof path, "/proc/%.20s/task/%.20s/fd", pid, tid);
  DIR *fds = opendir(path);
  if (!fds) return false;
  for (struct dirent *entry; !has_all && (entry = readdir(fds));) {
    ssize_t len = readlinkat(dirfd(fds), entry->d_name, link, sizeof link - 1);
    link[len > 0 ? len : 0] = 0;
    if (sscanf(link, "socket:[%llu]", &ino) == 1) has_all = visit(atoi(tid), atoi(entry->d_name), (ino_t)ino, context);
  }
  closedir(fds);
  return has_all;
}

/* Every thread, since each can have descriptors of its own. Processes of others cannot be looked into, or have none of
   these sockets. */
void search_processes(socket_visitor *visit, void *context) {
  char path[64];
  bool has_all = false;
  DIR *proc = opendir("/proc");
  if (!proc) return;
  for (struct dirent *process; !has_all && (process = readdir(proc));) {
    if (process->d_name[0] < '1' || process->d_name[0] > '9') continue;
    snprintf(path, sizeof path, "/proc/%.20s/task", process->d_name);
    DIR *threads = opendir(path);
    if (!threads) continue;
    for (struct dirent *thread; !has_all && (thread = readdir(threads));)
      if (thread->d_name[0] != '.') has_all = search_descriptors(process->d_name, thread->d_name, visit, context);
    closedir(threads);
  }
  closedir(proc);
}
