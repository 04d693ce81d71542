/* What the tree has used, by adding up /proc: for limits that no kernel layer keeps on this host. */
#define _GNU_SOURCE
#include "assay.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_TRACKED 65536

static uint64_t private_pages(pid_t pid) {
  char text[128];
  unsigned long size, resident, shared;
  if (!read_proc(pid, "statm", text, sizeof text) || sscanf(text, "%lu %lu %lu", &size, &resident, &shared) != 3) return 0;
  return resident - shared;
}

/* Memory files that are held by descriptor only are in nobody's resident size. */
static uint64_t memory_file_bytes(pid_t pid) {
  char dir[64], path[320], link[64];
  uint64_t total = 0;
  snprintf(dir, sizeof dir, "/proc/%d/fd", pid);
  DIR *fds = opendir(dir);
  if (!fds) return 0;
  for (struct dirent *entry; (entry = readdir(fds));) {
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", dir, entry->d_name);
    ssize_t len = readlink(path, link, sizeof link);
    if (len >= 7 && !memcmp(link, "/memfd:", 7) && !stat(path, &st)) total += (uint64_t)st.st_blocks * 512;
  }
  closedir(fds);
  return total;
}

static uint64_t written_bytes(pid_t pid) {
  char text[512];
  read_proc(pid, "io", text, sizeof text);
  return number_behind(text, "\nwrite_bytes: ", 10);
}

static size_t sample_all(struct sample *list) {
  DIR *proc = opendir("/proc");
  size_t count = 0;
  if (!proc) return 0;
  for (struct dirent *entry; count < MAX_TRACKED && (entry = readdir(proc));)
    if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && take_sample(atoi(entry->d_name), &list[count])) count++;
  closedir(proc);
  return count;
}

static void mark_inside(struct sample *list, size_t count, pid_t keeper) {
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 0; i < count; i++) {
      if (list[i].is_inside) continue;
      bool inside = list[i].pid == keeper;
      for (size_t j = 0; j < count && !inside; j++) inside = list[j].is_inside && list[j].pid == list[i].parent;
      if (inside) list[i].is_inside = changed = true;
    }
  }
}

/* Of everything that has been waited for. */
void report_usage(void) {
  struct rusage used;
  if (getrusage(RUSAGE_CHILDREN, &used)) return;
  unsigned long long ms = (unsigned long long)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000 +
                          (unsigned long long)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1000;
  report_line("{\"usage\":{\"cpuMs\":%llu,\"maxRssKb\":%ld}}", ms, used.ru_maxrss);
}

const char *soft_limit_passed(const struct plan *plan, pid_t keeper) {
  struct sample *list = calloc(MAX_TRACKED, sizeof *list);
  uint64_t used[SOFT_COUNT] = {0};
  if (!list) return "memory";
  size_t count = sample_all(list);
  mark_inside(list, count, keeper);
  for (size_t i = 0; i < count; i++) {
    if (!list[i].is_inside) continue;
    used[SOFT_CPU_MS] += list[i].cpu_ticks * 1000 / (uint64_t)sysconf(_SC_CLK_TCK);
    if (list[i].pid != keeper) used[SOFT_PIDS] += list[i].threads;
    if (plan->soft[SOFT_MEMORY_BYTES])
      used[SOFT_MEMORY_BYTES] += private_pages(list[i].pid) * (uint64_t)sysconf(_SC_PAGESIZE) + memory_file_bytes(list[i].pid);
    if (plan->soft[SOFT_DISK_BYTES]) used[SOFT_DISK_BYTES] += written_bytes(list[i].pid);
  }
  free(list);
  static const char *const names[SOFT_COUNT] = {"cpu", "memory", "disk", "pids"};
  for (int i = 0; i < SOFT_COUNT; i++)
    if (plan->soft[i] && used[i] > plan->soft[i]) return names[i];
  return NULL;
}
