/* A file that is only read is handed over together with the answer, so the caller goes on while we still hold a copy. A
   lock on the open file lasts as long as there is one: so none is left when a program asks for a lock, or else it would
   outlive the program's own descriptor. */
#define _GNU_SOURCE
#include "broker.h"

#include <sched.h>

static atomic_uint turns[RECEIVERS]; /* odd while this receiver has a copy that the caller may use already */
static __thread unsigned own;

void number_receiver(unsigned number) { own = number; }

void copy_is_out(void) { atomic_fetch_add(&turns[own], 1); }

void copy_is_closed(void) { atomic_fetch_add(&turns[own], 1); }

void wait_for_copies(void) {
  for (unsigned i = 0; i < RECEIVERS; i++) {
    unsigned turn = atomic_load(&turns[i]);
    while (turn & 1 && atomic_load(&turns[i]) == turn) sched_yield();
  }
}
