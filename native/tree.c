/* The processes of a run: how many there are, and the end of them all. */
#define _GNU_SOURCE
#include "assay.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

size_t read_proc(pid_t pid, const char *name, char *text, size_t cap) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t len = fd < 0 ? 0 : read(fd, text, cap - 1);
  if (fd >= 0) close(fd);
  if (len < 0) len = 0;
  text[len] = 0;
  return (size_t)len;
}

const char *read_stat(pid_t pid, char text[STAT_CAP]) {
  read_proc(pid, "stat", text, STAT_CAP);
  const char *after_name = strrchr(text, ')');
  return after_name && after_name[1] ? after_name + 2 : "";
}

uint64_t number_behind(const char *text, const char *name, int base) {
  const char *line = strstr(text, name);
  return line ? strtoull(line + strlen(name), NULL, base) : 0;
}

/* Time of reaped children is in their parent, so the sum over the living covers the dead as well. */
bool take_sample(pid_t pid, struct sample *s) {
  char text[STAT_CAP];
  unsigned long user, system, child_user, child_system, threads, rss;
  if (sscanf(read_stat(pid, text), "%*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %lu %lu %*d %*d %lu %*d %*u %*u %lu", &s->parent, &user,
             &system, &child_user, &child_system, &threads, &rss) != 7)
    return false;
  *s = (struct sample){pid, s->parent, user + system + child_user + child_system, rss, threads, false};
  return true;
}

static pid_t parent_of(pid_t pid) {
  struct sample s;
  return take_sample(pid, &s) ? s.parent : 0;
}

/* A parent that ends meanwhile leaves its children to another, and its number to anybody: each step is looked at twice. */
bool is_descendant(pid_t pid) {
  pid_t parent = parent_of(pid);
  while (parent > 1 && parent != getpid()) {
    pid_t above = parent_of(parent), again = parent_of(pid);
    if (again == parent) pid = parent, again = above;
    parent = again;
  }
  return parent == getpid();
}

/* Of all processes that are in sight. */
uint64_t count_threads(void) {
  uint64_t count = 0;
  struct sample s;
  DIR *proc = opendir("/proc");
  for (struct dirent *entry; proc && (entry = readdir(proc));)
    if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && take_sample(atoi(entry->d_name), &s)) count += s.threads;
  if (proc) closedir(proc);
  return count;
}

/* Orphans come to the keeper (it is a subreaper), so every survivor is its descendant. Children of children
   turn into children as their parents die; rounds go on until none is left. */
static void kill_children_once(void) {
  DIR *proc = opendir("/proc");
  if (!proc) return;
  for (struct dirent *entry; (entry = readdir(proc));)
    if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && parent_of(atoi(entry->d_name)) == getpid())
      kill(atoi(entry->d_name), SIGKILL);
  closedir(proc);
}

/* For a parent of last resort, which has no other process than those of the run. */
void end_children(void) {
  for (int round = 0; round < 2000; round++) {
    pid_t pid;
    while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) {
    }
    if (pid < 0 && errno == ECHILD) return;
    kill_children_once();
    nanosleep(&(struct timespec){0, 1000000}, NULL);
  }
}

void end_tree(const struct plan *plan, struct broker *broker) {
  if (broker) broker_close_gate(broker);
  for (int round = 0; round < 2000; round++) {
    /* A pid namespace, or a Landlock domain with scoped signals, holds exactly the processes inside. */
    if (plan->namespaces & NS_PID || plan->ll_scope & 2) kill(-1, SIGKILL);
    else kill_children_once();
    pid_t pid;
    while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) {
    }
    if (pid < 0 && errno == ECHILD) return;
    nanosleep(&(struct timespec){0, 1000000}, NULL);
  }
}
