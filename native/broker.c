/* Receives the calls that the filter hands over and has each one performed. Two receivers: the second wakes up only
   when several programs are at work, since one receiver that wakes its caller on the same CPU is quickest for one. */
#define _GNU_SOURCE
#include "programs.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>


/* A wait that was broken off for a signal is begun again, or not, as the handler of the signal says. */
#define RESTART_UNLESS_HANDLED (-512)

/* Before the caller goes on, which could notice a copy: a lock would last as long as it. */
static void let_directory_go(const struct request *r) {
  if (r->attempt->dir >= 0) close(r->attempt->dir);
  r->attempt->dir = -1;
}

/* False when the caller is gone. A signal to us may come in between: then nothing was sent, and the caller would wait on. */
static bool send_response(const struct request *r, struct seccomp_notif_resp response) {
  int result = 0;
  do result = ioctl(r->broker->listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
  while (result && errno == EINTR);
  return !result;
}

void answer(const struct request *r, int64_t value, int error) {
  let_directory_go(r);
  if (error == -EINTR && is_in_own_thread() && has_signal_due(r->tid)) error = RESTART_UNLESS_HANDLED;
  send_response(r, (struct seccomp_notif_resp){.id = r->id, .val = error < 0 ? 0 : value, .error = error < 0 ? error : 0});
}

/* False when the caller is gone. */
bool answer_continue(const struct request *r) {
  let_directory_go(r);
  return send_response(r, (struct seccomp_notif_resp){.id = r->id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE});
}

static int add_descriptor(const struct request *r, int fd, int wanted, bool is_cloexec, uint32_t flags) {
  struct seccomp_notif_addfd added = {r->id, flags, (uint32_t)fd, (uint32_t)wanted, is_cloexec ? O_CLOEXEC : 0};
  int number = 0;
  do number = ioctl(r->broker->listener, SECCOMP_IOCTL_NOTIF_ADDFD, &added);
  while (number < 0 && errno == EINTR);
  return number < 0 ? -errno : number;
}

/* Puts a copy of our descriptor among the caller's, who goes on waiting. Its number, or an error: ENOENT when the caller
   is gone. */
int give_descriptor(const struct request *r, int fd, bool is_cloexec) { return add_descriptor(r, fd, 0, is_cloexec, 0); }

/* In the place of one that it has. */
int replace_descriptor(const struct request *r, int number, int fd, bool is_cloexec) {
  return add_descriptor(r, fd, number, is_cloexec, SECCOMP_ADDFD_FLAG_SETFD);
}

/* Is the caller there to stay, though it does not wait for us any more? */
static bool goes_on(const struct request *r) {
  for (int look = 0; look < 3; look++) {
    if (has_ended(r->attempt->pidfd) || is_being_killed(r->tid)) return false;
    nanosleep(&(struct timespec){0, 1000000}, NULL);
  }
  return true;
}

/* The same, and the number is the answer to the call. After an error it is still to be answered. When we are frozen or
   stopped before the caller has taken it, the kernel takes it back and has the caller go on with 0, as if that were the
   number: whatever it would do with that, it does not do it to the end. */
int give_answer(const struct request *r, int fd, bool is_cloexec) {
  let_directory_go(r);
  int number = add_descriptor(r, fd, 0, is_cloexec, SECCOMP_ADDFD_FLAG_SEND);
  if (number != -EINPROGRESS && (number != -ENOENT || !goes_on(r))) return number;
  syscall(SYS_pidfd_send_signal, r->attempt->pidfd, SIGKILL, NULL, 0);
  return -EINTR;
}

/* ---- exec and fork: never performed here, only let go on or refused ---- */

static int no_exec(const struct target *t) {
  if (!t->exists) return ENOENT;
  if (!S_ISREG(t->st.st_mode)) return EACCES;
  return faccessat(t->object, "", X_OK, AT_EMPTY_PATH | AT_EACCESS) ? EACCES : 0;
}

/* A program where no program may be: it is mounted so, or it would be refused by a rule of the kernel's. */
static bool is_kept_from_running(const struct request *r, const struct target *t) {
  return t->exists && S_ISREG(t->st.st_mode) && (t->st.st_mode & 0111) && no_exec(t) && !is_covered(r->broker, t->path, OP_EXEC);
}

/* What cannot work is refused here, with what the kernel would say. The rest goes on, and is seen to work or not. */
static void check_exec(const struct request *r) {
  struct target t;
  bool at = r->nr == SYS_execveat;
  int flags = at ? (int)r->args[4] : 0;
  clear_target(&t);
  int error = resolve_argument(r, at ? (int)r->args[0] : AT_FDCWD, r->args[at ? 1 : 0], flags & AT_SYMLINK_NOFOLLOW ? 0 : FOLLOW, flags & AT_EMPTY_PATH, &t);
  uint32_t rule = !error && t.exists ? find_refusal(r->broker, t.path, OP_EXEC) : 0;
  if (rule) note_refusal(r, "exec", t.path, rule, EACCES);
  else if (!error && is_kept_from_running(r, &t)) {
    error = -EACCES;
    note_kernel_refusal(r, "exec", t.path, OP_EXEC, error);
  } else if (error == -ENOENT || error == -ENOTDIR || (!error && no_exec(&t))) {
    error = error ? error : -no_exec(&t);
    if (r->attempt->program) note_outcome(r, (struct fact){.op = "exec", .path = t.path, .error = -error});
  } else {
    bool is_refusal = !error && !is_covered(r->broker, t.path, OP_EXEC);
    if (is_refusal)
      record_fact(r, (struct fact){.op = "exec", .path = t.path, .rule = NO_RULE, .error = EACCES, .basis = FACT_PREDICTED, .flags = FACT_KERNEL});
    bool is_let = !(r->broker->plan->flags & PLAN_RECORD) || expect_exec(r, &t, is_refusal);
    error = is_let ? 0 : -EAGAIN;
    if (error) note_outcome(r, (struct fact){.op = "exec", .path = t.path, .error = EAGAIN});
  }
  release(&t);
  if (rule) answer(r, 0, -EACCES);
  else if (error) answer(r, 0, error);
  else if (!answer_continue(r) && r->broker->programs) forget_exec(r);
}

static void check_fork(const struct request *r) {
  if (atomic_load(&r->broker->is_gate_closed)) answer(r, 0, -EAGAIN);
  else answer_continue(r);
}

/* The first call that every program makes, once. */
#ifdef __x86_64__
#define NEW_IMAGE SYS_arch_prctl
#else
#define NEW_IMAGE SYS_set_tid_address
#endif

static bool is_end(int nr) { return nr == SYS_exit_group || nr == SYS_exit; }

/* A lock on an open file, which a copy of ours would make last. */
static void check_lock(const struct request *r) {
  wait_for_copies();
  answer_continue(r);
}

static void dispatch(const struct request *r) {
  if (r->nr == SYS_flock || r->nr == SYS_fcntl) return check_lock(r);
  if (r->broker->programs && is_end(r->nr)) settle_exec(r);
  else if (r->broker->programs) identify(r, r->nr == NEW_IMAGE);
  switch (r->nr) {
#ifdef SYS_open
    case SYS_open: case SYS_creat:
#endif
    case SYS_openat: case SYS_openat2: return perform_open(r);
    case SYS_connect: return perform_connect(r);
    case SYS_bind: return perform_bind(r);
    case SYS_listen: return perform_listen(r);
    case SYS_socket: return refuse_socket(r);
    case SYS_sendto: case SYS_sendmsg: case SYS_sendmmsg: return watch_send(r);
    case SYS_execve: case SYS_execveat: return check_exec(r);
#ifdef SYS_fork
    case SYS_fork: case SYS_vfork:
#endif
    case SYS_clone: return check_fork(r);
    case NEW_IMAGE: case SYS_exit: case SYS_exit_group: answer_continue(r); return; /* who called is known by now, and that is all it was for */
    case SYS_umask: note_umask(r); answer_continue(r); return;
    default: return perform_path_call(r);
  }
}

/* ---- receiving ---- */

struct receiver {
  struct broker *broker;
  bool is_second;
};

static void start_receiver(struct broker *b, bool is_second);

/* Several programs at once are told from one, and from one after another, by their turns: who calls again when another has
   come and gone in between waited for it; when that one comes once more, it has not. */
#define WINDOW 16
#define QUIET_WINDOWS 64 /* it takes longer to tell that there is one at a time again */

struct turns {
  pid_t callers[WINDOW]; /* negative: came and went */
  int count, crossed, quiet;
};

static void note_turn(struct turns *turns, pid_t tid) {
  int last = turns->count;
  while (last-- > 0 && abs(turns->callers[last]) != tid) {
  }
  if (last >= 0 && turns->callers[last] < 0) turns->crossed++;
  for (int i = last + 1; last >= 0 && i < turns->count; i++) turns->callers[i] = -abs(turns->callers[i]);
  turns->callers[turns->count++] = tid;
}

static void adapt(struct broker *b, pid_t tid) {
  static __thread struct turns turns;
  note_turn(&turns, tid);
  if (turns.count < WINDOW) return;
  turns.quiet = turns.crossed ? 0 : turns.quiet + 1;
  bool was = atomic_load(&b->is_parallel), now = was ? turns.quiet < QUIET_WINDOWS : turns.crossed > 0;
  if (now != was) {
    atomic_store(&b->is_parallel, now);
    if (now && !atomic_exchange(&b->has_second, true)) start_receiver(b, true);
    ioctl(b->listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, now ? 0UL : SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP);
  }
  turns.count = turns.crossed = 0;
}

static bool receive(struct broker *b, struct request *r) {
  struct seccomp_notif notification = {0};
  if (ioctl(b->listener, SECCOMP_IOCTL_NOTIF_RECV, &notification)) return false;
  *r = (struct request){.broker = b, .id = notification.id, .tid = (pid_t)notification.pid, .nr = notification.data.nr};
  memcpy(r->args, notification.data.args, sizeof r->args);
  return true;
}

static bool is_over(struct broker *b) {
  struct pollfd fd = {b->listener, POLLIN, 0};
  return poll(&fd, 1, 0) > 0 && (fd.revents & POLLHUP);
}

static void *receive_all(void *argument) {
  struct receiver *self = argument;
  struct broker *b = self->broker;
  struct attempt attempt;
  struct request r;
  own_mask();
  number_receiver(self->is_second);
  for (;;) {
    if (self->is_second && !atomic_load(&b->is_parallel)) {
      struct pollfd fd = {b->listener, 0, 0}; /* wakes up only for the end */
      if (poll(&fd, 1, 20) > 0 && (fd.revents & POLLHUP)) return NULL;
      continue;
    }
    spread_receiver(self->is_second, atomic_load(&b->is_parallel));
    if (!receive(b, &r)) {
      if (is_over(b)) return NULL;
      continue;
    }
    if (!self->is_second) adapt(b, r.tid);
    awake_call(b, r.tid);
    attempt.program = 0;
    attempt.pidfd = attempt.dir = -1;
    attempt.is_refused = attempt.is_begun = attempt.is_unread = false;
    attempt.socket_error = 0;
    attempt.mask = NULL;
    attempt.requested[0] = 0;
    r.attempt = &attempt;
    dispatch(&r);
    let_directory_go(&r);
  }
}

static void start_receiver(struct broker *b, bool is_second) {
  pthread_t thread;
  struct receiver *receiver = malloc(sizeof *receiver);
  if (!receiver) die("broker", "out of memory");
  *receiver = (struct receiver){b, is_second};
  if (!pthread_create(&thread, NULL, receive_all, receiver)) return;
  if (!is_second) die("broker", "cannot start");
  free(receiver); /* the run has as many processes as it may have: one receiver serves them all */
}

struct broker *broker_start(struct plan *plan, int listener, pid_t program) {
  struct broker *b = calloc(1, sizeof *b);
  struct stat proc;
  if (!b) die("broker", "out of memory");
  b->plan = plan;
  b->listener = listener;
  b->launch_umask = umask(0);
  umask(b->launch_umask);
  if (!stat("/proc", &proc)) b->proc_dev = proc.st_dev;
  b->root_fd = open("/", O_PATH | O_CLOEXEC);
  index_rules(b);
  record_start(b);
  if (plan->flags & PLAN_RECORD) timeless_start(), programs_start(b, program);
  pthread_mutex_init(&b->lock, NULL);
  names_start(b);
  ioctl(listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP); /* since 6.6 */
  awake_start(plan);
  spread_start();
  if (plan->flags & PLAN_BROKERED) judge_start();
  start_receiver(b, false);
  return b;
}

void broker_close_gate(struct broker *b) { atomic_store(&b->is_gate_closed, true); }

/* The programs are gone, but what they did last may still be on its way into the record. */
static void wait_for_record(struct broker *b) {
  for (int round = 0; round < 2000 && atomic_load(&b->unrecorded); round++) nanosleep(&(struct timespec){0, 500000}, NULL);
}

void broker_finish(struct broker *b) {
  wait_for_record(b);
  if (b->plan->flags & PLAN_BROKERED) judge_finish();
  guard_finish(b);
  if (b->programs) programs_finish(b);
  record_finish(b);
  if (atomic_load(&b->unread)) report_line("{\"unread\":%lu}", atomic_load(&b->unread));
}
