/* What the kernel counts and holds for this container, as far as it can be seen from inside. */
#define _GNU_SOURCE
#include "steward.h"

#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

static size_t read_text(const char *path, char *text, size_t room) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t n = fd < 0 ? 0 : read(fd, text, room - 1);
  if (fd >= 0) close(fd);
  if (n < 0) n = 0;
  text[n] = 0;
  return (size_t)n;
}

/* The number behind a word, in the first of these files that has it. */
static uint64_t read_count(const char *const *paths, const char *word) {
  char text[4096];
  for (; *paths; paths++) {
    if (!read_text(*paths, text, sizeof text)) continue;
    for (const char *line = text; line; line = strchr(line, '\n')) {
      if (*line == '\n') line++;
      size_t len = strlen(word);
      if (strncmp(line, word, len) == 0 && line[len] == ' ') return strtoull(line + len, NULL, 10);
    }
  }
  return 0;
}

struct counters read_counters(void) {
  static const char *const memory[] = {"/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control", NULL};
  static const char *const pids[] = {"/sys/fs/cgroup/pids.events", "/sys/fs/cgroup/pids/pids.events", NULL};
  return (struct counters){.oom_kills = read_count(memory, "oom_kill"), .pid_refusals = read_count(pids, "max")};
}

uint32_t look_at_disk(uint64_t *used) {
  static const char *const places[] = {WORKSPACE, "/tmp"};
  uint32_t reached = 0;
  *used = 0;
  for (int i = 0; i < 2; i++) {
    struct statvfs fs;
    if (statvfs(places[i], &fs) || (fs.f_flag & ST_RDONLY)) continue;
    *used += (uint64_t)(fs.f_blocks - fs.f_bfree) * fs.f_frsize;
    if (fs.f_blocks > 0 && fs.f_bavail == 0) reached |= REACHED_DISK;
    if (fs.f_files > 0 && fs.f_ffree == 0) reached |= REACHED_INODES;
  }
  return reached;
}

/* Where the kernel inside keeps the limit, it says how many there are; the host's kernel would count its own. */
uint32_t look_at_processes(const struct limits *limits) {
  struct sysinfo info;
  return limits->processes && sysinfo(&info) == 0 && info.procs >= limits->processes ? REACHED_PIDS : 0;
}

static size_t add_status(char *out, size_t room) {
  static const char *const words[] = {"CapEff", "CapBnd", "NoNewPrivs", "Seccomp"};
  char text[4096];
  size_t len = 0;
  read_text("/proc/self/status", text, sizeof text);
  for (int i = 0; i < 4; i++) {
    char wanted[32], value[64] = "";
    snprintf(wanted, sizeof wanted, "\n%s:", words[i]);
    const char *line = strstr(text, wanted);
    if (line) sscanf(line + strlen(wanted), " %63s", value);
    len += (size_t)snprintf(out + len, room - len, "%s %s\n", words[i], value);
  }
  return len;
}

static size_t add_place(char *out, size_t room, const char *name, const char *path) {
  struct statvfs fs = {0};
  if (statvfs(path, &fs)) return (size_t)snprintf(out, room, "%s absent\n", name);
  return (size_t)snprintf(out, room, "%s %s %llu %llu\n", name, access(path, W_OK) ? "ro" : "rw",
                          (unsigned long long)fs.f_blocks * fs.f_frsize, (unsigned long long)fs.f_files);
}

/* From the list of mounts: not every kernel says it of the file system itself. */
static size_t add_root(char *out, size_t room) {
  char line[4096], place[256], options[1024];
  int is_read_only = 0;
  FILE *mounts = fopen("/proc/self/mounts", "re");
  while (mounts && fgets(line, sizeof line, mounts))
    if (sscanf(line, "%*s %255s %*s %1023s", place, options) == 2 && strcmp(place, "/") == 0)
      is_read_only = strncmp(options, "ro", 2) == 0 && (options[2] == 0 || options[2] == ',');
  if (mounts) fclose(mounts);
  return (size_t)snprintf(out, room, "root %s\n", is_read_only ? "ro" : "rw");
}

/* What holds here, as it was found and not as it was asked for; assay compares the two. */
void say_hello(void) {
  char text[4096];
  struct utsname name;
  uname(&name);
  size_t len = (size_t)snprintf(text, sizeof text, "pid %d\nuid %u\ngid %u\nkernel %s\n", getpid(), getuid(), getgid(), name.release);
  len += add_status(text + len, sizeof text - len);
  len += add_root(text + len, sizeof text - len);
  len += add_place(text + len, sizeof text - len, "workspace", WORKSPACE);
  len += add_place(text + len, sizeof text - len, "tmp", "/tmp");
  struct stat place;
  if (stat(WORKSPACE, &place) == 0)
    len += (size_t)snprintf(text + len, sizeof text - len, "inode %llu\n", (unsigned long long)place.st_ino);
  len += (size_t)snprintf(text + len, sizeof text - len, "interfaces");
  struct if_nameindex *list = if_nameindex();
  for (size_t i = 0; list && list[i].if_index && len < sizeof text - 64; i++)
    len += (size_t)snprintf(text + len, sizeof text - len, " %s", list[i].if_name);
  len += (size_t)snprintf(text + len, sizeof text - len, "\n");
  send_frame(SAY_HELLO, 0, text, len);
}
