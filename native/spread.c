/* Where several programs are at work, each call wakes up both receivers, and one of them in vain. With two processors, each
   receiver keeps to one of them: the call is taken where it comes from, as soon as the caller waits. The other receiver,
   which would have what runs there make room for nothing, only gets its turn when that waits as well. */
#define _GNU_SOURCE
#include "broker.h"

#include <sched.h>
#include <unistd.h>

#define SLICE_NS 100000 /* the least that can be asked for: of several that wait it is the first to run */

struct scheduling_abi {
  uint32_t size, policy;
  uint64_t flags;
  int32_t nice;
  uint32_t priority;
  uint64_t runtime, deadline, period;
};

static cpu_set_t both;
static bool are_two;
static __thread bool is_spread;

void spread_start(void) { are_two = !sched_getaffinity(0, sizeof both, &both) && CPU_COUNT(&both) == 2; }

static cpu_set_t own_processor(bool is_second) {
  cpu_set_t own;
  size_t at = 0;
  CPU_ZERO(&own);
  while (!CPU_ISSET(at, &both)) at++;
  if (is_second)
    do at++;
    while (!CPU_ISSET(at, &both));
  CPU_SET(at, &own);
  return own;
}

/* Who was started to run before all others, or after them, goes on so. */
static void choose_turn(bool is_parallel) {
  struct scheduling_abi now = {0};
  bool is_known = !syscall(SYS_sched_getattr, 0, &now, sizeof now, 0) && now.policy == (is_parallel ? SCHED_OTHER : SCHED_BATCH);
  if (!is_known) return;
  now.policy = is_parallel ? SCHED_BATCH : SCHED_OTHER;
  now.runtime = is_parallel ? SLICE_NS : 0;
  syscall(SYS_sched_setattr, 0, &now, 0);
}

/* What cannot be had of this is only slower. */
void spread_receiver(bool is_second, bool is_parallel) {
  if (!are_two || is_spread == is_parallel) return;
  cpu_set_t own = own_processor(is_second);
  sched_setaffinity(0, sizeof own, is_parallel ? &own : &both);
  choose_turn(is_parallel);
  is_spread = is_parallel;
}
