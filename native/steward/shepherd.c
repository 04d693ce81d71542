/* One call: a process between the steward and the program, which everything that the program starts comes back to when
   its parent ends. So the call can be ended whole, and what it used is known. */
#define _GNU_SOURCE
#include "steward.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TICK_MS 20
#define PAUSE_US 500
#define MEASURE_MS 200
#define MEASURE_SHARE 10
#define EXTRA_CPU_SECONDS 2
#define HIGHEST 32 /* the shepherd has none above */
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

void close_between(int first, int last) {
  if (syscall(SYS_close_range, (unsigned)first, (unsigned)last, 0) == 0) return;
  for (int fd = first; fd <= last; fd++) close(fd);
}

/* What programs may ask the kernel for, besides what the engine lets them; compiled by assay. */
static struct sock_fprog filter;

void keep_filter(const struct frame *f) {
  filter.len = (unsigned short)(f->len / sizeof *filter.filter);
  filter.filter = malloc(f->len);
  if (!filter.filter) die("memory");
  memcpy(filter.filter, f->data, f->len);
  send_ok(f->channel);
}

static int enter_filter(void) {
  if (filter.len == 0) return 0;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)) return errno;
  return 0;
}

static void limit_to(int which, uint64_t value) {
  struct rlimit limit = {.rlim_cur = value, .rlim_max = value};
  setrlimit((__rlimit_resource_t)which, &limit);
}

static void set_limits(const struct limits *limits) {
  limit_to(RLIMIT_CORE, 0);
  if (limits->open_files) limit_to(RLIMIT_NOFILE, limits->open_files);
  if (limits->processes) limit_to(RLIMIT_NPROC, limits->processes);
  /* Should nobody look any more. */
  if (limits->cpu_ms) limit_to(RLIMIT_CPU, limits->cpu_ms / 1000 + EXTRA_CPU_SECONDS);
}

static _Noreturn void become(const struct program *program, int failure) {
  /* In a group of its own: a signal to its group is not for the shepherd. */
  if (setpgid(0, 0) || dup2(program->in, 0) < 0 || dup2(program->out, 1) < 0 || dup2(program->err, 2) < 0) _exit(70);
  /* What says why it did not start is the only other one, and is closed when it does. */
  if (failure != 3 && dup2(failure, 3) < 0) _exit(70);
  fcntl(3, F_SETFD, FD_CLOEXEC);
  close_between(4, HIGHEST);
  sigset_t none;
  sigemptyset(&none);
  for (int i = 1; i < NSIG; i++) signal(i, SIG_DFL);
  sigprocmask(SIG_SETMASK, &none, NULL);
  int error = 0;
  if (chdir(program->cwd)) error = errno;
  if (!error) {
    set_limits(&program->limits);
    error = enter_filter();
  }
  if (!error) {
    execvpe(program->argv[0], program->argv, program->env);
    error = errno;
  }
  if (write(3, &error, sizeof error) < 0) _exit(71);
  _exit(127);
}

static pid_t start_program(const struct program *program, struct ending *ending) {
  int failure[2];
  if (pipe2(failure, O_CLOEXEC)) die("pipe");
  pid_t pid = fork();
  if (pid == 0) become(program, failure[1]);
  int error = pid < 0 ? errno : 0;
  close(failure[1]);
  if (!error && read(failure[0], &error, sizeof error) <= 0) error = 0;
  close(failure[0]);
  if (!error) return pid;
  if (pid > 0) waitpid(pid, NULL, 0);
  *ending = (struct ending){.kind = END_NOT_STARTED, .value = (uint32_t)error};
  return -1;
}

static uint64_t to_us(struct timeval time) {
  return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_usec;
}

/* Again until there is nobody, since some may be starting others. Where orphans do not come back to here, they are found by
   what they are not: of another call. */
static void end_all(const struct roll *roll, int has_orphans) {
  for (;;) {
    size_t killed = kill_strays(roll);
    pid_t pid;
    while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) continue;
    if (pid < 0 && errno == ECHILD && (has_orphans || killed == 0)) return;
    usleep(PAUSE_US);
  }
}

static uint64_t used_cpu_ms(void) {
  struct rusage usage;
  getrusage(RUSAGE_CHILDREN, &usage);
  return (to_us(usage.ru_utime) + to_us(usage.ru_stime)) / 1000 + count_cpu_ms(getpid());
}

/* What a program runs into and may go on from. */
static void look_around(const struct limits *limits, struct ending *ending) {
  uint64_t used = 0;
  ending->reached |= look_at_disk(&used);
  if (used > ending->disk_bytes) ending->disk_bytes = used;
  ending->reached |= look_at_processes(limits);
}

static uint64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Looks at a workspace of the host from time to time: the longer it takes, the less often. */
static enum end_cause measure(const struct limits *limits, uint64_t *next) {
  uint64_t started = now_ms(), bytes, files;
  if (!(limits->workspace_bytes || limits->workspace_files) || started < *next) return CAUSE_NONE;
  measure_workspace(&bytes, &files);
  *next = now_ms() + MEASURE_MS + MEASURE_SHARE * (now_ms() - started);
  if (limits->workspace_bytes && bytes > limits->workspace_bytes) return CAUSE_DISK;
  return limits->workspace_files && files > limits->workspace_files ? CAUSE_INODES : CAUSE_NONE;
}

/* The program itself is not reaped: where the kernel inside counts processes, it has to be seen among those that it left. */
static int is_over(pid_t program, struct ending *ending) {
  siginfo_t child = {0};
  while (waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT) == 0 && child.si_pid > 0) {
    if (child.si_pid == program) {
      ending->kind = child.si_code == CLD_EXITED ? END_EXITED : END_SIGNALED;
      ending->value = (uint32_t)child.si_status;
      return 1;
    }
    waitpid(child.si_pid, NULL, 0);
    child.si_pid = 0;
  }
  return 0;
}

/* Until the program ends, or has to. */
static void watch(pid_t program, const struct limits *limits, int orders, struct ending *ending) {
  sigset_t children;
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  struct timespec tick = {.tv_nsec = TICK_MS * 1000000};
  uint64_t next = 0;
  for (;;) {
    if (is_over(program, ending)) return;
    unsigned char order;
    while (read(orders, &order, 1) == 1) {
      if (order == KILL_ORDER) ending->cause = CAUSE_KILLED;
      else kill(program, order);
    }
    if (!ending->cause) ending->cause = measure(limits, &next);
    if (!ending->cause && limits->cpu_ms && used_cpu_ms() >= limits->cpu_ms) ending->cause = CAUSE_CPU;
    if (ending->cause) {
      ending->kind = END_SIGNALED;
      ending->value = SIGKILL;
      return;
    }
    look_around(limits, ending);
    sigtimedwait(&children, NULL, &tick);
  }
}

_Noreturn void run_shepherd(const struct program *program, int report, int orders, const struct roll *roll) {
  /* Everything that the program starts is of this session, unless it leaves it. */
  if (setsid() < 0) die("session");
  int has_orphans = prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
  struct counters before = read_counters();
  struct ending ending = {0};
  pid_t pid = start_program(program, &ending);
  /* Not held open here: that they are closed is how the other ends learn of the program's end. */
  close(program->in), close(program->out), close(program->err);
  if (pid > 0) {
    watch(pid, &program->limits, orders, &ending);
    look_around(&program->limits, &ending);
    end_all(roll, has_orphans);
    struct counters after = read_counters();
    if (after.oom_kills > before.oom_kills) ending.reached |= REACHED_MEMORY;
    if (after.pid_refusals > before.pid_refusals) ending.reached |= REACHED_PIDS;
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    ending.cpu_us = to_us(usage.ru_utime) + to_us(usage.ru_stime);
    ending.max_rss = (uint64_t)usage.ru_maxrss * 1024;
  }
  _exit(write(report, &ending, sizeof ending) == sizeof ending ? 0 : 71);
}
