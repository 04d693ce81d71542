/* With two processors, the one that is not ours sleeps while the broker works, and the kernel likes to wake the caller
   there: waking a processor takes several times as long as what was asked of us, on virtual machines most of all. So
   while the calls of one program come thick and fast, a thread that weighs next to nothing runs on that processor. The
   caller then stays with the broker, on one processor, and the two take turns without waking anything up. */
#define _GNU_SOURCE
#include "broker.h"

#include <sched.h>
#include <semaphore.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define MANY_CALLS 4
#define MANY_WITHIN_NS 3000000
#define QUIET_NS 200000
#define TURN_NS 20000 /* so long at most does it keep another from running */
#define LOWEST 19

static sem_t is_wanted; /* no lock: a receiver would wait for a thread that hardly ever gets to run */
static atomic_bool has_thread, is_resting;
static atomic_int broker_cpu;
static _Atomic uint64_t last_call_ns;

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void rest(void) {
  atomic_store(&is_resting, true);
  while (sem_wait(&is_wanted)) {
  }
}

/* Onto the processor that the broker does not use, of the two there are. */
static bool move_aside(const cpu_set_t *both) {
  cpu_set_t other = *both;
  CPU_CLR((size_t)atomic_load(&broker_cpu), &other);
  return !sched_setaffinity(0, sizeof other, &other);
}

static void *keep_awake(void *argument) {
  cpu_set_t both = *(cpu_set_t *)argument;
  if (setpriority(PRIO_PROCESS, 0, LOWEST)) return NULL; /* without that it would be in the way */
  for (;;) {
    rest();
    for (uint64_t now = now_ns(), turn = now; (int64_t)(now - atomic_load(&last_call_ns)) < QUIET_NS; now = now_ns()) {
      if (now - turn < TURN_NS) continue;
      if (sched_getcpu() == atomic_load(&broker_cpu) && !move_aside(&both)) return NULL;
      sched_yield();
      turn = now;
    }
  }
}

void awake_start(const struct plan *plan) {
  static cpu_set_t both; /* outlives the thread's start */
  pthread_t thread;
  /* Time that is counted is the program's. */
  bool is_counted = plan->soft[SOFT_CPU_MS] || plan->cgroup_count;
  if (!(plan->flags & PLAN_RECORD) || is_counted || sched_getaffinity(0, sizeof both, &both) || CPU_COUNT(&both) != 2) return;
  if (sem_init(&is_wanted, 0, 0)) return;
  atomic_store(&has_thread, !pthread_create(&thread, NULL, keep_awake, &both));
}

/* A call has come. Where several programs are at work, both processors have enough to do. */
void awake_call(const struct broker *b, pid_t tid) {
  static __thread uint64_t since;
  static __thread unsigned calls;
  static __thread pid_t last;
  if (!atomic_load_explicit(&has_thread, memory_order_relaxed) || atomic_load_explicit(&b->is_parallel, memory_order_relaxed)) return;
  uint64_t now = now_ns();
  atomic_store_explicit(&last_call_ns, now, memory_order_relaxed);
  atomic_store_explicit(&broker_cpu, sched_getcpu(), memory_order_relaxed);
  if (tid != last) calls = 0, since = now;
  last = tid;
  if (++calls < MANY_CALLS) return;
  bool are_many = now - since < MANY_WITHIN_NS;
  since = now;
  calls = 0;
  if (are_many && atomic_exchange(&is_resting, false)) sem_post(&is_wanted);
}
