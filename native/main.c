/* The supervisor: outside the boundary, between assay and the keeper. It passes signals on, keeps the clock and the
   soft limits, gives the terminal back, and reports how the run ended. */
#define _GNU_SOURCE
#include "serve.h"
#include "uapi.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define PARENT_DIED SIGRTMIN
#define SAMPLE_MS 100
#define KEEPER_GRACE_MS 3000

struct terminal {
  int fd;
  pid_t group;
  struct termios modes;
};

struct supervisor {
  struct plan plan;
  struct terminal terminal;
  pid_t keeper;
  int to_keeper, from_keeper, signals;
  uint64_t started_ms, term_at_ms, kill_at_ms, sampled_ms;
  bool is_timed_out, has_status, is_stopped, is_late, is_reported;
  const char *limit;
  int status, code;
};

static uint64_t now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static struct terminal save_terminal(void) {
  struct terminal t = {.fd = -1};
  for (int fd = 0; fd < 3 && t.fd < 0; fd++)
    if (!tcgetattr(fd, &t.modes)) t.fd = fd;
  t.group = t.fd < 0 ? -1 : tcgetpgrp(t.fd);
  return t;
}

/* The foreground comes back to us. A program that was killed could not put the modes back, so this does; one that ended
   by itself may have meant to change them. */
static void restore_terminal(const struct terminal *t, bool was_killed) {
  if (t->fd < 0) return;
  if (t->group == getpgrp()) tcsetpgrp(t->fd, t->group);
  else if (tcgetpgrp(t->fd) != getpgrp()) return; /* started in the background, and still there */
  if (was_killed) tcsetattr(t->fd, TCSADRAIN, &t->modes);
}

static void command_keeper(struct supervisor *s, enum keeper_order kind, int value) {
  unsigned char command[2] = {(unsigned char)kind, (unsigned char)value};
  ssize_t sent = write(s->to_keeper, command, sizeof command);
  (void)sent; /* a keeper that is gone is seen by the wait */
}

/* The keeper ends the tree and says what is to be said; if it does not, it goes, and a pid namespace with it. */
static void kill_everything(struct supervisor *s) {
  command_keeper(s, ORDER_END, 0);
  if (!s->kill_at_ms) s->kill_at_ms = now_ms() + KEEPER_GRACE_MS;
}

static int watch_signals(void) {
  sigset_t set;
  block_all_signals();
  sigfillset(&set);
  int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (fd < 0) die_errno("supervisor", "signalfd");
  return fd;
}

static void join_cgroups(const struct supervisor *s) {
  char pid[16];
  int len = snprintf(pid, sizeof pid, "%d", s->keeper);
  for (size_t i = 0; i < s->plan.cgroup_count; i++) {
    int fd = open(s->plan.cgroups[i], O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write(fd, pid, (size_t)len) != len) die_errno("cgroup", s->plan.cgroups[i]);
    close(fd);
  }
}

/* Held as long as anything of the run lives: a sweep from another pid namespace cannot tell by the process number. */
static void lock_scoped_dir(const struct plan *plan) {
  if (!plan->scoped_dir || !*plan->scoped_dir) return; /* the run has none that outlives it */
  int fd = open(plan->scoped_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB)) die_errno("tmp", plan->scoped_dir);
}

/* False when the kernel does not let us: then errno says why. */
static bool start_keeper(struct supervisor *s, struct owner owner) {
  int down[2], up[2];
  if (pipe2(down, O_CLOEXEC) || pipe2(up, O_CLOEXEC)) die_errno("supervisor", "pipe");
  s->keeper = (pid_t)syscall(SYS_clone, clone_flags(owner.namespaces) | SIGCHLD, 0, 0, 0, 0);
  if (!s->keeper) {
    close(down[1]);
    close(up[0]);
    run_keeper(&s->plan, owner, (struct keeper_pipes){down[0], up[1]});
  }
  close(down[0]);
  close(up[1]);
  s->to_keeper = down[1];
  s->from_keeper = up[0];
  return s->keeper > 0;
}

static void discard_keeper(struct supervisor *s) {
  close(s->to_keeper);
  close(s->from_keeper);
  if (s->keeper <= 0) return;
  kill(s->keeper, SIGKILL);
  waitpid(s->keeper, NULL, 0);
}

/* Making namespaces takes as long as making the plan, so they are made meanwhile, those that most plans want. What is
   wrong with them shows when they are made again. False when there will be no plan. */
static bool wait_for_plan(struct supervisor *s, struct owner guess) {
  char go;
  hold_reports(true);
  if (fcntl(DOORS_FD, F_SETFD, FD_CLOEXEC)) return false;
  start_keeper(s, guess);
  bool has_plan = read(DOORS_FD, &go, 1) == 1;
  if (has_plan) command_keeper(s, ORDER_PLAN, 0);
  else discard_keeper(s);
  hold_reports(false);
  s->started_ms = s->sampled_ms = now_ms();
  return has_plan;
}

/* A keeper that was made before the plan is of use if it has got so far, and has what the plan wants. */
static bool is_ready(struct supervisor *s, struct owner made, struct owner wanted) {
  char message[5];
  if (s->keeper <= 0 || memcmp(&made, &wanted, sizeof made)) return false;
  return read(s->from_keeper, message, sizeof message) == sizeof message;
}

static void start_program(struct supervisor *s, struct owner made) {
  struct owner wanted = {s->plan.namespaces, s->plan.uid, s->plan.gid};
  if (!s->is_late || !is_ready(s, made, wanted)) {
    if (s->is_late) discard_keeper(s);
    if (!start_keeper(s, wanted)) die_errno(wanted.namespaces & NS_USER ? "user" : "namespaces", "clone");
  }
  join_cgroups(s);
  command_keeper(s, ORDER_GO, 0);
}

/* Where the plan came late assay hears of the end by the channel, as node wants it there: a line of JSON; and clears up
   while the namespaces go. */
static void report_end(struct supervisor *s) {
  int status = s->has_status ? s->status : SIGKILL;
  int signal_number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  s->code = signal_number ? 128 + signal_number : WEXITSTATUS(status);
  if (s->limit) s->code = 137;
  if (s->is_timed_out) s->code = 124;
  s->is_reported = true;
  report_line("{\"end\":{\"code\":%d,\"signal\":%d,\"timedOut\":%s,\"limit\":\"%s\",\"ms\":%llu}}", s->code, signal_number,
              s->is_timed_out ? "true" : "false", s->limit ? s->limit : "", (unsigned long long)(now_ms() - s->started_ms));
  if (is_report_in_memory && write(OVER_FD, "E", 1) < 0) { /* the holder hears of our end */
  }
  if (s->is_late && send(DOORS_FD, "\"E\"\n", 4, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) { /* it hears of ours */
  }
}

/* The program stopped itself or was stopped by the terminal: assay stops, so that the shell takes over. The supervisor
   does not: it has the clock. */
static void stop_with_program(struct supervisor *s) {
  if (s->terminal.fd < 0) return;
  s->is_stopped = true;
  kill(getppid(), SIGSTOP);
}

static void hear_keeper(struct supervisor *s) {
  char message[5];
  int value;
  if (read(s->from_keeper, message, sizeof message) != sizeof message) {
    close(s->from_keeper);
    s->from_keeper = -1;
    return;
  }
  memcpy(&value, message + 1, sizeof value);
  if (message[0] == 'S') stop_with_program(s);
  /* The terminal may have let the program go on before we heard that it had stopped. */
  if (message[0] == 'R' && s->is_stopped) s->is_stopped = false, kill(getppid(), SIGCONT);
  if (message[0] == 'X') s->status = value, s->has_status = true, report_end(s);
}

/* The terminal signals the whole foreground group, the program included; what another process sends is passed on. */
static void hear_signals(struct supervisor *s) {
  struct signalfd_siginfo info;
  while (read(s->signals, &info, sizeof info) == sizeof info) {
    int sig = (int)info.ssi_signo;
    if (sig == PARENT_DIED || sig == END_ALL) kill_everything(s);
    else if (sig == PASS_ON) command_keeper(s, ORDER_SIGNAL, info.ssi_int);
    else if (sig == START_CLOCK) s->started_ms = now_ms(), s->plan.timeout_ms = (uint32_t)info.ssi_int;
    else if (sig == SIGCONT && s->is_stopped) s->is_stopped = false, command_keeper(s, ORDER_SIGNAL, SIGCONT);
    else if (sig == SIGINT || sig == SIGQUIT ? info.ssi_code <= 0 : sig == SIGTERM || sig == SIGHUP || sig == SIGUSR1 || sig == SIGUSR2)
      command_keeper(s, ORDER_SIGNAL, sig);
  }
}

static void keep_time(struct supervisor *s) {
  uint64_t now = now_ms();
  if (s->kill_at_ms && now >= s->kill_at_ms) kill(s->keeper, SIGKILL);
  if (s->term_at_ms && now >= s->term_at_ms + s->plan.grace_ms) {
    kill_everything(s);
    s->term_at_ms = UINT64_MAX / 2;
  }
  if (s->plan.timeout_ms && !s->is_timed_out && now - s->started_ms >= s->plan.timeout_ms) {
    s->is_timed_out = true;
    s->term_at_ms = now;
    command_keeper(s, ORDER_SIGNAL, SIGTERM);
  }
}

static void keep_limits(struct supervisor *s) {
  if (s->limit || s->has_status || now_ms() < s->sampled_ms + SAMPLE_MS) return;
  s->sampled_ms = now_ms();
  s->limit = soft_limit_passed(&s->plan, s->keeper);
  if (s->limit) kill_everything(s);
}

static int next_wait_ms(const struct supervisor *s, bool has_soft) {
  uint64_t now = now_ms(), wait = UINT64_MAX;
  if (has_soft) wait = SAMPLE_MS;
  if (s->plan.timeout_ms && !s->is_timed_out) {
    uint64_t left = s->started_ms + s->plan.timeout_ms > now ? s->started_ms + s->plan.timeout_ms - now : 0;
    if (left < wait) wait = left;
  }
  if (s->is_timed_out && s->plan.grace_ms < wait) wait = s->plan.grace_ms;
  if (s->kill_at_ms && wait > SAMPLE_MS) wait = SAMPLE_MS;
  return wait == UINT64_MAX ? -1 : (int)(wait > 60000 ? 60000 : wait + 1);
}

static void supervise(struct supervisor *s) {
  int doors = s->plan.flags & PLAN_DOORS ? DOORS_FD : -1;
  bool has_soft = false;
  for (int i = 0; i < SOFT_COUNT; i++) has_soft |= s->plan.soft[i] > 0;
  while (s->from_keeper >= 0) {
    struct pollfd fds[3] = {{s->from_keeper, POLLIN, 0}, {s->signals, POLLIN, 0}, {doors, POLLIN, 0}};
    if (poll(fds, 3, next_wait_ms(s, has_soft)) < 0 && errno != EINTR) break;
    if (fds[0].revents) hear_keeper(s);
    hear_signals(s);
    if (fds[2].revents && !drop_answers()) doors = -1;
    keep_time(s);
    if (has_soft) keep_limits(s);
  }
}

/* The code to end with. */
static int reap_keeper(struct supervisor *s) {
  int keeper_status;
  waitpid(s->keeper, &keeper_status, 0);
  end_children(); /* of a keeper that was killed: nothing runs unseen */
  stream_flush(); /* what a keeper that was killed had not written yet */
  if (s->is_reported) return s->code;
  if (WIFEXITED(keeper_status) && WEXITSTATUS(keeper_status) == 125) return 125;
  if (!s->is_timed_out && !s->limit) die("keeper", "ended before the program did");
  report_end(s);
  return s->code;
}

/* Room for the report, whatever the program does to the disk. Not every file system can promise that. */
static void reserve_report(void) {
  struct stat st;
  if (!is_report_in_memory && !fstat(PLAN_FD, &st)) fallocate(PLAN_FD, FALLOC_FL_KEEP_SIZE, st.st_size, REPORT_CAP * 2);
}

/* `guess` has namespaces where the plan comes later. The plan says who started this, unless a holder does. */
static int run(struct owner guess, pid_t holder) {
  struct supervisor s = {.started_ms = now_ms(), .sampled_ms = now_ms(), .is_late = guess.namespaces != 0};
  note_early_signals();
  syscall(SYS_close_range, (unsigned)(holder ? OVER_FD : DOORS_FD) + 1, ~0u, 0u);
  if (fcntl(PLAN_FD, F_SETFL, O_APPEND) || fcntl(PLAN_FD, F_SETFD, FD_CLOEXEC)) return 125;
  stream_open();
  prctl(PR_SET_PDEATHSIG, PARENT_DIED, 0, 0, 0);
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  if (s.is_late && !wait_for_plan(&s, guess)) return 125;
  plan_read(&s.plan, PLAN_FD);
  if (!s.is_late && !(s.plan.flags & (PLAN_DOORS | PLAN_BROKERED))) close(DOORS_FD);
  /* Held to the end: node takes the end of a channel for the end of what is in it. */
  else if (fcntl(DOORS_FD, F_SETFD, FD_CLOEXEC)) die_errno("doors", "channel");
  reserve_report();
  if (holder) s.plan.parent_pid = (uint32_t)holder;
  if ((uint32_t)getppid() != s.plan.parent_pid) die("supervisor", "assay is gone");
  uint32_t abi = (uint32_t)landlock_abi();
  if (abi < s.plan.landlock_abi || (abi > s.plan.landlock_abi && s.plan.flags & PLAN_EXACT_ABI)) {
    report_line("{\"abi\":%u}", abi);
    if (s.is_late) discard_keeper(&s);
    return 125;
  }
  lock_scoped_dir(&s.plan);
  s.terminal = save_terminal();
  start_program(&s, guess);
  s.signals = watch_signals(); /* from now on the keeper has its own */
  supervise(&s);
  int code = reap_keeper(&s);
  restore_terminal(&s.terminal, !s.has_status || !WIFEXITED(s.status));
  return code;
}

int run_plan(struct owner guess, pid_t holder) { return run(guess, holder); }

int main(int argc, char **argv) {
  if (argc == 2 && !strcmp(argv[1], "probe")) return run_probe();
  if (argc == 2 && !strcmp(argv[1], "serve")) return run_serve();
  if (argc == 3 && !strcmp(argv[1], "remove")) return run_remove(argv[2]);
  if (argc == 4 && !strcmp(argv[1], "match")) return match_pattern(argv[2], argv[3]) ? 0 : 1;
  if (argc == 3 && !strcmp(argv[1], "wait")) return run((struct owner){(uint32_t)atoi(argv[2]), getuid(), getgid()}, 0);
  if (argc != 1) {
    fputs("assay-helper is started by assay and reads its plan from descriptor 3\n", stderr);
    return 2;
  }
  return run((struct owner){0}, 0);
}
