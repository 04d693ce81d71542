/* Calls that may wait for long (a FIFO without a peer, a lease, a connect) get a thread of their own. While they wait the caller
   takes no signals, so the watcher looks whether one is due and then breaks the wait off, as the kernel would. */
#define _GNU_SOURCE
#include "broker.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAX_BLOCKED 1024
#define WATCH_MS 20
#define STAYING_LOOKS 3

/* So often in a row has a signal been seen that another thread has not taken, and as often had the first one been woken. */
struct looks {
  unsigned seen;
  uint64_t switches;
};

struct blocked_call {
  struct request request;
  struct attempt attempt;
  void (*perform)(const struct request *);
  pthread_t thread;
  struct looks looks;
  bool is_used;
};

static struct blocked_call calls[MAX_BLOCKED];
static size_t used;
static bool is_watched;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread bool is_own;

bool is_in_own_thread(void) { return is_own; }

bool is_being_killed(pid_t tid) {
  char text[4096];
  read_proc(tid, "status", text, sizeof text);
  return !text[0] || number_behind(text, "\nSigPnd:", 16) >> (SIGKILL - 1) & 1;
}

/* A signal for the whole process goes to its first thread, if that neither blocks it nor has ended. The next of them looks just
   like it, so this one is left to others only while the first thread sleeps on: if it was chosen, it would wake. */
static bool is_left_by_first(pid_t first, uint64_t signals, struct looks *looks) {
  char text[4096];
  read_proc(first, "status", text, sizeof text);
  const char *state = strstr(text, "\nState:\t");
  if (!state || strchr("ZX", state[8]) || !(signals & ~number_behind(text, "\nSigBlk:", 16))) return true;
  uint64_t switches = number_behind(text, "\nvoluntary_ctxt_switches:", 10) + number_behind(text, "\nnonvoluntary_ctxt_switches:", 10);
  bool has_slept = state[8] == 'S' && looks->switches == switches;
  looks->switches = switches;
  return has_slept;
}

/* Is there a signal for the caller that it neither blocks nor ignores? One that is meant for its process may be taken by any
   of its threads, if there are others. The kernel would not know what to do with a call that is broken off for what another
   thread takes, so such a signal must stay. */
static bool look_for_signal(pid_t tid, struct looks *looks) {
  char text[4096];
  read_proc(tid, "status", text, sizeof text);
  uint64_t left_out = number_behind(text, "\nSigBlk:", 16) | number_behind(text, "\nSigIgn:", 16);
  if (number_behind(text, "\nSigPnd:", 16) & ~left_out) return true;
  uint64_t shared = number_behind(text, "\nShdPnd:", 16) & ~left_out;
  pid_t first = (pid_t)number_behind(text, "\nTgid:", 10);
  if (shared && number_behind(text, "\nThreads:", 10) == 1) return true;
  looks->seen = shared && (first == tid || is_left_by_first(first, shared, looks)) ? looks->seen + 1 : 0;
  return looks->seen >= STAYING_LOOKS;
}

bool has_signal_due(pid_t tid) {
  struct looks looks = {0};
  bool is_due = look_for_signal(tid, &looks);
  for (int more = 1; !is_due && more <= STAYING_LOOKS; more++) {
    nanosleep(&(struct timespec){0, 1000000}, NULL);
    is_due = look_for_signal(tid, &looks);
  }
  return is_due;
}

bool is_disturbed_in_vain(const struct request *r) { return is_own && is_still_waiting(r) && !has_signal_due(r->tid); }

static bool is_to_be_broken_off(struct blocked_call *call) {
  return look_for_signal(call->request.tid, &call->looks) || !is_still_waiting(&call->request);
}

static void *watch(void *unused) {
  (void)unused;
  for (bool is_idle = false; !is_idle;) {
    nanosleep(&(struct timespec){0, WATCH_MS * 1000000L}, NULL);
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < MAX_BLOCKED; i++)
      if (calls[i].is_used && is_to_be_broken_off(&calls[i])) pthread_kill(calls[i].thread, SIGUSR1);
    is_idle = used == 0;
    if (is_idle) is_watched = false;
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}

static void on_interrupt(int sig) { (void)sig; }

static void *run_call(void *argument) {
  struct blocked_call *call = argument;
  struct sigaction action = {.sa_handler = on_interrupt}; /* without SA_RESTART */
  sigset_t set;
  sigaction(SIGUSR1, &action, NULL);
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  pthread_sigmask(SIG_UNBLOCK, &set, NULL);
  own_mask();
  is_own = true;
  call->perform(&call->request);
  pthread_mutex_lock(&lock);
  call->is_used = false;
  used--;
  pthread_mutex_unlock(&lock);
  return NULL;
}

static bool start_detached(void *(*run)(void *), void *argument, pthread_t *thread) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, 512 * 1024);
  bool started = !pthread_create(thread, &attributes, run, argument);
  pthread_attr_destroy(&attributes);
  return started;
}

bool in_own_thread(const struct request *r, void (*perform)(const struct request *)) {
  bool started = false;
  pthread_t watcher;
  pthread_mutex_lock(&lock);
  for (size_t i = 0; i < MAX_BLOCKED && !started; i++) {
    if (calls[i].is_used) continue;
    calls[i] = (struct blocked_call){.request = *r, .attempt = {.program = r->attempt->program, .pidfd = -1, .dir = -1, .is_begun = r->attempt->is_begun, .is_unread = r->attempt->is_unread}, .perform = perform, .is_used = true};
    calls[i].request.attempt = &calls[i].attempt;
    started = start_detached(run_call, &calls[i], &calls[i].thread);
    calls[i].is_used = started;
    if (started) used++;
    else break;
  }
  if (started && !is_watched) is_watched = start_detached(watch, NULL, &watcher);
  pthread_mutex_unlock(&lock);
  return started;
}

/* A program may hold a lease on a file, and have the kernel make others wait for up to a minute. `try_once` does not wait,
   and is false while the lease is there; in between nothing is held that others need. */
void try_until_unleased(const struct request *r, bool (*try_once)(const struct request *), void (*perform)(const struct request *)) {
  while (!try_once(r)) {
    if (!is_own) {
      if (!in_own_thread(r, perform)) answer(r, 0, -ENFILE);
      return;
    }
    nanosleep(&(struct timespec){0, WATCH_MS * 1000000L}, NULL);
    if (!is_still_waiting(r) || has_signal_due(r->tid)) return answer(r, 0, -EINTR);
  }
}
