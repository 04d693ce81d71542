/* Processes as /proc shows them: who descends from whom, and what they have used. */
#define _GNU_SOURCE
#include "steward.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_SEEN 4096

struct seen {
  pid_t pid, parent, session;
  uint64_t ticks; /* its own, and of children that it has waited for */
  int is_dead, is_below;
};

/* pid (name) state parent …; the name may hold anything, so what follows is found from its end. */
static int read_process(const char *name, struct seen *out) {
  char path[64], text[1024];
  snprintf(path, sizeof path, "/proc/%.20s/stat", name);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  ssize_t n = read(fd, text, sizeof text - 1);
  close(fd);
  if (n <= 0) return 0;
  text[n] = 0;
  const char *rest = strrchr(text, ')');
  unsigned long user = 0, system = 0;
  long waited_user = 0, waited_system = 0;
  int parent = 0, session = 0;
  char state = 0;
  if (!rest || sscanf(rest + 1, " %c %d %*d %d %*d %*d %*u %*u %*u %*u %*u %lu %lu %ld %ld", &state, &parent, &session, &user, &system,
                      &waited_user, &waited_system) != 7)
    return 0;
  *out = (struct seen){.pid = (pid_t)atoi(name), .parent = parent, .session = session, .is_dead = state == 'Z' || state == 'X'};
  out->ticks = (uint64_t)user + system + (uint64_t)waited_user + (uint64_t)waited_system;
  return 1;
}

static size_t list_processes(struct seen *list) {
  DIR *proc = opendir("/proc");
  size_t count = 0;
  if (!proc) return 0;
  for (struct dirent *entry; count < MAX_SEEN && (entry = readdir(proc));)
    if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9' && read_process(entry->d_name, &list[count])) count++;
  closedir(proc);
  return count;
}

static int is_listed(pid_t pid, const pid_t *list, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (list[i] == pid) return 1;
  return 0;
}

static int is_marked(pid_t pid, const struct seen *list, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (list[i].pid == pid) return list[i].is_below;
  return 0;
}

/* Marks what descends from any of the roots. */
static void mark_descendants(struct seen *list, size_t count, const pid_t *roots, size_t root_count) {
  for (int has_more = 1; has_more;) {
    has_more = 0;
    for (size_t i = 0; i < count; i++)
      if (!list[i].is_below && (is_listed(list[i].parent, roots, root_count) || is_marked(list[i].parent, list, count)))
        list[i].is_below = has_more = 1;
  }
}

/* Ends everything but the steward, whoever asks, the shepherds of other calls, and what belongs to these: what descends from
   them, or is of their session though its parent has ended. Returns how many there were, or that it has to be asked again. */
size_t kill_strays(const struct roll *roll) {
  static struct seen list[MAX_SEEN];
  pid_t others[MAX_CALLS];
  size_t other_count = 0, killed = 0;
  unsigned changes = roll->changes;
  for (size_t i = 0; i < MAX_CALLS; i++)
    if (roll->shepherds[i] > 0 && roll->shepherds[i] != getpid()) others[other_count++] = roll->shepherds[i];
  size_t count = list_processes(list);
  /* A call that has started meanwhile is in the list of processes and may not be in the other one. */
  if (changes % 2 || changes != roll->changes) return 1;
  mark_descendants(list, count, others, other_count);
  for (size_t i = 0; i < count; i++) {
    const struct seen *p = &list[i];
    if (p->pid == 1 || p->pid == getpid() || p->is_below || p->is_dead) continue;
    if (is_listed(p->pid, others, other_count) || is_listed(p->session, others, other_count)) continue;
    if (kill(p->pid, SIGKILL) == 0) killed++;
  }
  return killed;
}

uint64_t count_cpu_ms(pid_t root) {
  static struct seen list[MAX_SEEN];
  size_t count = list_processes(list);
  mark_descendants(list, count, &root, 1);
  uint64_t ticks = 0;
  for (size_t i = 0; i < count; i++)
    if (list[i].is_below) ticks += list[i].ticks;
  return ticks * 1000 / (uint64_t)sysconf(_SC_CLK_TCK);
}
