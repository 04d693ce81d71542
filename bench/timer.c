/* Times commands side by side: in each round every command runs once, each round starting with another one, so that
   what else the machine does falls on all of them alike. Reads from standard input:

     command NAME      starts a new one
     cwd DIR
     plan FILE         opened as descriptor 3; the mark in it is replaced by this process's number
     arg TEXT          one for each word
     run ROUNDS WARMUP

   and writes `NAME microseconds exit-code cpu-microseconds peak-KiB` for each timed run. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_COMMANDS 64
#define MAX_ARGS 64
#define MARK 0x7a5a5a7au

extern char **environ;

struct command {
  char *name, *cwd, *args[MAX_ARGS];
  int arg_count, plan;
  off_t plan_size;
};

static _Noreturn void die(const char *what) {
  fprintf(stderr, "timer: %s: %s\n", what, strerror(errno));
  exit(1);
}

/* A plan names the process that may have it performed. */
static void open_plan(struct command *c, const char *path) {
  struct stat st;
  uint32_t mark = MARK, pid = (uint32_t)getpid();
  int fd = open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0 || fstat(fd, &st)) die(path);
  char *bytes = malloc((size_t)st.st_size);
  if (!bytes || pread(fd, bytes, (size_t)st.st_size, 0) != st.st_size) die(path);
  char *found = memmem(bytes, (size_t)st.st_size, &mark, sizeof mark);
  if (!found || pwrite(fd, &pid, sizeof pid, found - bytes) != sizeof pid) die("no mark in the plan");
  free(bytes);
  c->plan = fd;
  c->plan_size = st.st_size;
}

static double now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static double cpu_us(const struct rusage *usage) {
  const struct timeval *user = &usage->ru_utime, *system = &usage->ru_stime;
  return (double)(user->tv_sec + system->tv_sec) * 1e6 + (double)(user->tv_usec + system->tv_usec);
}

static double time_once(struct command *c, int *code, struct rusage *usage) {
  posix_spawn_file_actions_t actions;
  pid_t pid;
  int status;
  posix_spawn_file_actions_init(&actions);
  if (c->cwd) posix_spawn_file_actions_addchdir_np(&actions, c->cwd);
  if (c->plan >= 0) {
    /* The helper adds its report to the end of the plan. */
    if (ftruncate(c->plan, c->plan_size)) die("ftruncate");
    posix_spawn_file_actions_adddup2(&actions, c->plan, 3);
  }
  double started = now_us();
  int error = posix_spawnp(&pid, c->args[0], &actions, NULL, c->args, environ);
  if (error) errno = error, die(c->args[0]);
  if (wait4(pid, &status, 0, usage) != pid) die("wait4");
  double took = now_us() - started;
  posix_spawn_file_actions_destroy(&actions);
  *code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return took;
}

int main(void) {
  static struct command commands[MAX_COMMANDS];
  static char line[8192];
  /* The commands inherit none of these. */
  FILE *out = fdopen(fcntl(1, F_DUPFD_CLOEXEC, 10), "w");
  int count = 0, null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (!out || null < 0) die("set-up");
  while (fgets(line, sizeof line, stdin)) {
    line[strcspn(line, "\n")] = 0;
    char *value = strchr(line, ' ');
    struct command *c = count ? &commands[count - 1] : NULL;
    if (!value) continue;
    *value++ = 0;
    if (!strcmp(line, "command") && count < MAX_COMMANDS) commands[count++] = (struct command){.name = strdup(value), .plan = -1};
    else if (!strcmp(line, "cwd") && c) c->cwd = strdup(value);
    else if (!strcmp(line, "plan") && c) open_plan(c, value);
    else if (!strcmp(line, "arg") && c && c->arg_count < MAX_ARGS - 1) c->args[c->arg_count++] = strdup(value);
    else if (!strcmp(line, "run")) {
      int rounds = 0, warmup = 0;
      if (sscanf(value, "%d %d", &rounds, &warmup) != 2) die("run");
      dup2(null, 0), dup2(null, 1), dup2(null, 2);
      for (int round = -warmup; round < rounds; round++)
        for (int i = 0; i < count; i++) {
          int code, which = (i + round + warmup) % count;
          struct rusage usage;
          double took = time_once(&commands[which], &code, &usage);
          if (round >= 0)
            fprintf(out, "%s %.1f %d %.0f %ld\n", commands[which].name, took, code, cpu_us(&usage), usage.ru_maxrss);
        }
      fclose(out);
      return 0;
    }
  }
  return 1;
}
