/* One group below the sandbox's for each call: what it may use, what it has used, and its end. */
#define _GNU_SOURCE
#include "agent.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static void file_of(char out[PATH_CAP], const char *name, const char *file) { snprintf(out, PATH_CAP, GROUPS "/%s/%s", name, file); }

static int put(const char *name, const char *file, const char *text) {
  char path[PATH_CAP];
  file_of(path, name, file);
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  ssize_t done = write(fd, text, strlen(text));
  close(fd);
  return done < 0 ? -1 : 0;
}

void groups_start(void) {
  if (mkdir(GROUPS, 0700) || mount("cgroup", GROUPS, "cgroup2", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL)) die("cgroup2");
  if (put(".", "cgroup.subtree_control", "+memory +pids +cpu") || mkdir(GROUPS "/box", 0700)) die("groups");
  if (put("box", "cgroup.subtree_control", "+memory +pids +cpu")) die("group of the sandbox");
}

static int put_number(const char *name, const char *file, uint64_t value) {
  char text[32];
  snprintf(text, sizeof text, "%" PRIu64, value);
  return put(name, file, value ? text : "max");
}

/* Makes the group where there is none yet, and says what it may use. */
int group_make(const char *name, const struct limits *limits) {
  char path[PATH_CAP], cpu[64];
  snprintf(path, sizeof path, GROUPS "/%s", name);
  bool is_new = mkdir(path, 0700) == 0;
  snprintf(cpu, sizeof cpu, limits->cpu_quota_us ? "%" PRIu64 " 100000" : "max 100000", limits->cpu_quota_us);
  bool is_call = strchr(name, '/') != NULL;
  if (put_number(name, "memory.max", limits->memory_bytes) || put_number(name, "pids.max", limits->pids) || put(name, "cpu.max", cpu) ||
      /* A call that has lost one process to want of memory is not what was asked for any more: all of it ends. */
      (is_call && put(name, "memory.oom.group", "1"))) {
    if (is_new) rmdir(path);
    return -1;
  }
  return 0;
}

int group_entry(const char *name) {
  char path[PATH_CAP];
  file_of(path, name, "cgroup.procs");
  return open(path, O_WRONLY | O_CLOEXEC);
}

void group_kill(const char *name) {
  if (put(name, "cgroup.kill", "1")) die("kill of a group");
}

void group_remove(const char *name) {
  char path[PATH_CAP];
  snprintf(path, sizeof path, GROUPS "/%s", name);
  rmdir(path);
}

/* The number behind `key` in a file of the group, or the file's only number where there is no key. */
uint64_t group_number(const char *name, const char *file, const char *key) {
  char path[PATH_CAP], text[4096];
  file_of(path, name, file);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  ssize_t got = read(fd, text, sizeof text - 1);
  close(fd);
  if (got <= 0) return 0;
  text[got] = 0;
  if (!key) return strtoull(text, NULL, 10);
  size_t length = strlen(key);
  for (char *line = text; line; line = strchr(line, '\n')) {
    if (*line == '\n') line++;
    if (strncmp(line, key, length) == 0 && line[length] == ' ') return strtoull(line + length, NULL, 10);
  }
  return 0;
}

bool group_is_empty(const char *name) { return group_number(name, "cgroup.events", "populated") == 0; }
