/* Hands whole batches of plans to native/plan.c: {u32 length, bytes} from standard input. Each is read in a process of
   its own, and everything that it then points to is touched. One letter for each: r read, d refused, x neither. */
#define _GNU_SOURCE
#include "../../native/assay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static size_t touched;

static void touch(const char *text) {
  if (text) touched += strlen(text);
}

static void touch_all(char **list) {
  for (; list && *list; list++) touch(*list);
}

static void read_one(const char *bytes, uint32_t len) {
  struct plan plan = {0};
  int fd = memfd_create("plan", 0);
  if (fd < 0 || write(fd, bytes, len) != (ssize_t)len || dup2(fd, PLAN_FD) < 0) _exit(1);
  alarm(10);
  plan_read(&plan, PLAN_FD);
  touch_all(plan.argv);
  touch_all(plan.env);
  touch(plan.cwd);
  touch(plan.scoped_dir);
  for (char **path = plan.tmp_paths; path && *path; path++) touch(*path);
  for (size_t i = 0; i < plan.mount_count; i++) touch(plan.mounts[i].source), touch(plan.mounts[i].path);
  for (size_t i = 0; i < plan.ll_rule_count; i++) touch(plan.ll_rules[i].path);
  for (size_t i = 0; i < plan.door_range_count; i++) touched += plan.door_ranges[i].prefix + plan.door_ranges[i].address[15];
  for (size_t i = 0; i < plan.cgroup_count; i++) touch(plan.cgroups[i]);
  for (size_t i = 0; i < plan.rule_count; i++)
    touched += match_pattern(plan.rules[i].pattern, "/some/where/.git/hooks/é");
  for (size_t i = 0; i < plan.filter_len; i++) touched += ((const unsigned char *)plan.filter)[i];
  for (size_t i = 0; i < plan.banner_len; i++) touched += (unsigned char)plan.banner[i];
  _exit(0);
}

int main(void) {
  uint32_t len;
  while (fread(&len, sizeof len, 1, stdin) == 1) {
    char *bytes = malloc(len ? len : 1);
    int status = 0;
    if (!bytes || fread(bytes, 1, len, stdin) != len) return 1;
    fflush(stdout);
    pid_t pid = fork();
    if (!pid) read_one(bytes, len);
    waitpid(pid, &status, 0);
    bool is_clean = WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 125);
    putchar(!is_clean ? 'x' : WEXITSTATUS(status) ? 'd' : 'r');
    free(bytes);
  }
  return 0;
}
