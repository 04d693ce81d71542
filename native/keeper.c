/* The keeper is the first process inside: it applies the boundary to itself, starts the program inside it, reaps,
   and performs through the broker what the program asks for. In a pid namespace its end is the end of the tree. */
#define _GNU_SOURCE
#include "assay.h"
#include "uapi.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MSG_PROBE_ 0x10
#define LOOK_MS 100

/* The message has the number of the descriptor, and the descriptor itself unless the kernel finds that the user has too
   many on their way already: any program of his can see to that. Then the keeper takes it by its number, and until it has,
   nothing is done here that would wait for an answer, or that closes it. */
static void send_listener(int sock, int fd) {
  char byte;
  /* The filter hands over every sendmsg but one with MSG_PROBE, which datagrams are not sent by. Nobody answers yet. */
  bool is_sent = send_descriptor(sock, &fd, sizeof fd, fd, MSG_PROBE_) == sizeof fd || write(sock, &fd, sizeof fd) == sizeof fd;
  if (!is_sent || read(sock, &byte, 1) != 1) pause(); /* without a keeper this process ends, too */
}

static int take_descriptor(pid_t program, int number) {
  int process = (int)syscall(SYS_pidfd_open, program, 0);
  int fd = process < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, process, number, 0);
  if (fd < 0 && errno != ESRCH) die_errno("broker", "take listener");
  if (process >= 0) close(process);
  return fd;
}

/* What the broker lives by, before anything has run: where it is not to be had, another plan is made. `fd` is the program's. */
static void check_means(const struct plan *plan, pid_t program, int fd) {
  errno = try_reading(program);
  if (errno) die_errno("broker", "reading memory");
  errno = plan->flags & PLAN_NO_COPIES ? 0 : try_copying(program, fd);
  if (errno) die_errno("broker", "copying descriptors");
}

/* -1 when the program has ended before it had one. */
static int receive_listener(int sock, pid_t program) {
  int number, fd = -1;
  if (receive_descriptor(sock, &number, sizeof number, &fd) != sizeof number) return -1;
  return fd < 0 ? take_descriptor(program, number) : fd;
}

static void install_filter(const struct plan *plan, int sock) {
  if (!plan->filter_len) return;
  struct sock_fprog program = {(unsigned short)(plan->filter_len / sizeof(struct sock_filter)), (void *)plan->filter};
  unsigned long flags =
      plan->flags & PLAN_NOTIFY ? SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV : 0;
  int listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
  if (listener < 0) die_errno(plan->flags & PLAN_NOTIFY ? "broker" : "seccomp", "install filter");
  if (plan->flags & PLAN_NOTIFY) send_listener(sock, listener);
}

static const char *path_variable(char **env) {
  for (; *env; env++)
    if (!strncmp(*env, "PATH=", 5)) return *env + 5;
  return "/usr/bin:/bin";
}

/* As a shell does: EACCES is kept in mind while later entries are tried, and relative entries do not count. */
static int exec_by_name(struct plan *plan) {
  int kept = ENOENT;
  if (strchr(plan->argv[0], '/')) {
    execve(plan->argv[0], plan->argv, plan->env);
    return errno;
  }
  for (const char *at = path_variable(plan->env); *at;) {
    char candidate[PATH_CAP];
    size_t len = strcspn(at, ":");
    if (*at == '/' && len + strlen(plan->argv[0]) + 2 <= sizeof candidate) {
      snprintf(candidate, sizeof candidate, "%.*s/%s", (int)len, at, plan->argv[0]);
      execve(candidate, plan->argv, plan->env);
      if (errno == EACCES) kept = EACCES;
      else if (errno != ENOENT && errno != ENOTDIR) return errno;
    }
    at += len;
    if (*at == ':') at++;
  }
  return kept;
}

static void apply_rlimits(const struct plan *plan) {
  for (size_t i = 0; i < plan->rlimit_count; i++) {
    struct rlimit now, want = {plan->rlimits[i].soft, plan->rlimits[i].hard};
    if (getrlimit(plan->rlimits[i].resource, &now)) die_errno("rlimits", "read");
    if (want.rlim_max > now.rlim_max) want.rlim_max = now.rlim_max;
    if (want.rlim_cur > want.rlim_max) want.rlim_cur = want.rlim_max;
    if (setrlimit(plan->rlimits[i].resource, &want)) die_errno("rlimits", "set");
  }
}

/* A socket stays in the network where it was made, and can be taken back and connected to any other place of it, or sent
   from to anybody: what the program is handed as its standard input or output must not be such a way out. A connected
   unix socket leads to its other end only. */
static void check_stdio(const struct plan *plan) {
  static const char *const names[] = {
      "standard input is a socket of the host's network, and a way out; put a pipe in between",
      "standard output is a socket of the host's network, and a way out; put a pipe in between",
      "standard error is a socket of the host's network, and a way out; put a pipe in between",
  };
  for (int fd = 0; fd < 3 && plan->flags & PLAN_OFF_NETWORK; fd++) {
    int domain = 0, type = 0;
    socklen_t len = sizeof domain;
    if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) || getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len)) continue; /* no socket */
    if (domain != AF_UNIX || (type != SOCK_STREAM && type != SOCK_SEQPACKET)) die("stdio", names[fd]);
  }
}

static _Noreturn void run_program(struct plan *plan, int sock) {
  block_all_signals(); /* until the keeper can hear of what they do */
  prctl(PR_SET_DUMPABLE, 1, 0, 0, 0); /* the broker reads this process's arguments */
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  for (int sig = 1; sig < NSIG; sig++) signal(sig, SIG_DFL);
  check_stdio(plan);
  apply_rlimits(plan);
  apply_landlock_scope(plan);
  install_filter(plan, sock);
  if (plan->banner_len && write(STDERR_FILENO, plan->banner, plan->banner_len) < 0) { /* no one to tell */
  }
  /* Nothing but 0, 1 and 2 is inherited; the rest stays open just long enough to report a failed exec. */
  if (syscall(SYS_close_range, 3u, ~0u, 4u /* CLOEXEC */))
    for (int fd = 3; fd < 1024; fd++) fcntl(fd, F_SETFD, FD_CLOEXEC);
  take_early_signals();
  int error = exec_by_name(plan);
  report_line("{\"exec\":%d}", error);
  _exit(error == ENOENT || error == ENOTDIR ? 127 : 126);
}

/* ---- the keeper's own life ---- */

struct keeper {
  struct plan *plan;
  struct keeper_pipes pipes;
  struct broker *broker;
  pid_t program;
  bool are_pids_full;
};

static void tell(struct keeper *keeper, char kind, int value) {
  char message[5] = {kind};
  memcpy(message + 1, &value, sizeof value);
  ssize_t sent = write(keeper->pipes.to_supervisor, message, sizeof message);
  (void)sent; /* without a supervisor the next read ends this process */
}

/* Nobody is told when the kernel refuses a process for their number; that they are as many as may be is seen. */
static void look_at_pids(struct keeper *keeper, uint64_t just_ended) {
  uint64_t limit = 0;
  for (size_t i = 0; i < keeper->plan->rlimit_count; i++)
    if (keeper->plan->rlimits[i].resource == RLIMIT_NPROC) limit = keeper->plan->rlimits[i].soft;
  if (!limit || keeper->are_pids_full) return;
  if (just_ended + count_threads() < limit) return;
  keeper->are_pids_full = true;
  report_line("{\"full\":\"pids\"}");
}

static _Noreturn void finish(struct keeper *keeper, int status) {
  if (keeper->plan->namespaces & NS_PID) look_at_pids(keeper, 1);
  end_tree(keeper->plan, keeper->broker);
  if (keeper->broker) broker_finish(keeper->broker);
  if (is_report_in_memory) report_usage();
  tell(keeper, 'X', status);
  _exit(0);
}

/* The program's side has said why, unless it was killed. */
static _Noreturn void end_unstarted(struct keeper *keeper) {
  int status;
  if (waitpid(keeper->program, &status, 0) == keeper->program && WIFSIGNALED(status)) finish(keeper, status);
  _exit(125);
}

static void reap(struct keeper *keeper) {
  int status;
  for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED)) > 0;) {
    if (pid != keeper->program) continue;
    if (WIFSTOPPED(status)) tell(keeper, 'S', WSTOPSIG(status));
    else if (WIFCONTINUED(status)) tell(keeper, 'R', 0);
    else finish(keeper, status);
  }
}

/* Commands of the supervisor: a signal to pass on, or the order to end everything. */
static void obey(struct keeper *keeper) {
  unsigned char command[2];
  ssize_t len = read(keeper->pipes.to_keeper, command, sizeof command);
  if (len < 2) {
    end_tree(keeper->plan, keeper->broker);
    _exit(0);
  }
  if (command[0] == ORDER_SIGNAL) kill(keeper->program, command[1]);
  if (command[0] == ORDER_END) finish(keeper, SIGKILL);
}

static int watch_children(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (fd < 0) die_errno("keeper", "signalfd");
  return fd;
}

static void wait_for(enum keeper_order order, int fd) {
  char command[2];
  if (read(fd, command, sizeof command) != sizeof command || command[0] != (char)order) _exit(125);
}

/* Namespaces were made before the plan was there. Others than it wants are of no use, and are made again. */
static void take_late_plan(struct plan *plan, struct owner made, int fd) {
  wait_for(ORDER_PLAN, fd);
  hold_reports(false);
  plan_read(plan, PLAN_FD);
  if (plan->namespaces != made.namespaces || plan->uid != made.uid || plan->gid != made.gid) _exit(125);
  if (!(plan->flags & (PLAN_DOORS | PLAN_BROKERED))) close(DOORS_FD); /* the supervisor's own */
}

static void confine(struct plan *plan) {
  if (plan->flags & PLAN_DOORS) open_doors(plan);
  build_view(plan);
  if (chdir(plan->cwd)) die_errno("workdir", plan->cwd);
  if (plan->flags & PLAN_DROP_CAPS) drop_capabilities();
  bool is_bounded = plan->has_landlock || plan->filter_len; /* an observed run is blocked in nothing */
  if (is_bounded && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) die_errno("seccomp", "no new privileges");
  apply_landlock(plan);
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); /* out of reach of ptrace and /proc for what runs inside */
}

/* The guard holds what the run made by descriptor. */
static void raise_open_files(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit)) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

/* `plan` may be empty: then it comes when the supervisor says so. */
_Noreturn void run_keeper(struct plan *plan, struct owner owner, struct keeper_pipes pipes) {
  struct keeper keeper = {.plan = plan, .pipes = pipes};
  int pair[2];
  if (owner.namespaces & NS_PID) prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  else prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  int children = watch_children();
  enter_namespaces(owner);
  if (!plan->bytes) {
    tell(&keeper, 'N', 0);
    take_late_plan(plan, owner, pipes.to_keeper);
  }
  confine(plan);
  wait_for(ORDER_GO, pipes.to_keeper); /* until all is checked, and we are in the cgroups */
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) die_errno("keeper", "socketpair");
  keeper.program = fork();
  if (keeper.program < 0) die_errno("keeper", "fork");
  if (!keeper.program) run_program(plan, pair[1]);
  block_all_signals(); /* the program has its own */
  close(pair[1]); /* whose number it keeps there */
  if (plan->flags & PLAN_NOTIFY) {
    raise_open_files(); /* after the fork: the program keeps its own limit */
    int listener = receive_listener(pair[0], keeper.program);
    if (listener < 0) end_unstarted(&keeper);
    check_means(plan, keeper.program, pair[1]);
    if (write(pair[0], "", 1) != 1) { /* the program was killed, which is seen by the wait */
    }
    keeper.broker = broker_start(plan, listener, keeper.program);
  }
  close(pair[0]);
  for (;;) {
    struct pollfd fds[2] = {{children, POLLIN, 0}, {pipes.to_keeper, POLLIN, 0}};
    int ready = poll(fds, 2, is_report_in_memory && !keeper.are_pids_full ? LOOK_MS : -1);
    if (!ready) look_at_pids(&keeper, 0);
    if (ready <= 0) continue;
    struct signalfd_siginfo drained;
    while (read(children, &drained, sizeof drained) > 0) {
    }
    reap(&keeper);
    if (fds[1].revents) obey(&keeper);
  }
}
