/* With two processors, the one that is not ours sleeps while the broker works, and the kernel likes to wake the caller
   there. Waking a processor takes several times as long as what was asked of us, on virtual machines most of all. So
   while calls come thick and fast, a thread that gives way to everything else keeps it from falling asleep. */
#define _GNU_SOURCE
#include "broker.h"

#include <sched.h>
#include <time.h>
#include <unistd.h>

#define MANY_CALLS 32
#define MANY_WITHIN_NS 3000000
#define QUIET_NS 200000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t is_wanted = PTHREAD_COND_INITIALIZER;
static atomic_bool has_thread, is_resting;
static _Atomic uint64_t last_call_ns;

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void rest(void) {
  pthread_mutex_lock(&lock);
  atomic_store(&is_resting, true);
  while (atomic_load(&is_resting)) pthread_cond_wait(&is_wanted, &lock);
  pthread_mutex_unlock(&lock);
}

static void *keep_awake(void *unused) {
  struct sched_param lowest = {0};
  (void)unused;
  if (sched_setscheduler(0, SCHED_IDLE, &lowest)) return NULL; /* without that it would be in the way */
  for (;;) {
    rest();
    while (now_ns() - atomic_load(&last_call_ns) < QUIET_NS) {
    }
  }
}

void awake_start(const struct plan *plan) {
  pthread_t thread;
  /* Time that is counted is the program's. */
  bool is_counted = plan->soft[SOFT_CPU_MS] || plan->cgroup_count;
  if (!(plan->flags & PLAN_RECORD) || is_counted || sysconf(_SC_NPROCESSORS_ONLN) != 2) return;
  atomic_store(&has_thread, !pthread_create(&thread, NULL, keep_awake, NULL));
}

/* A call has come. */
void awake_call(void) {
  static __thread uint64_t since;
  static __thread unsigned calls;
  if (!atomic_load_explicit(&has_thread, memory_order_relaxed)) return;
  uint64_t now = now_ns();
  atomic_store(&last_call_ns, now);
  if (++calls < MANY_CALLS) return;
  bool are_many = now - since < MANY_WITHIN_NS;
  since = now;
  calls = 0;
  if (!are_many || !atomic_load(&is_resting)) return;
  pthread_mutex_lock(&lock);
  atomic_store(&is_resting, false);
  pthread_cond_signal(&is_wanted);
  pthread_mutex_unlock(&lock);
}
