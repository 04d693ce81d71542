/* A file is handed over together with the answer, so the caller goes on while we still hold a copy. A lock on the open file
   lasts as long as there is one, and no file can be executed while a copy can write to it: so none is left when a program asks
   for a lock, or makes something executable. */
#define _GNU_SOURCE
#include "broker.h"

#include <sched.h>

static atomic_uint turns[2][RECEIVERS]; /* odd while this receiver has a copy, which can write or not, that the caller may use already */
static __thread unsigned own;

void number_receiver(unsigned number) { own = number; }

void copy_is_out(bool is_writable) { atomic_fetch_add(&turns[is_writable][own], 1); }

void copy_is_closed(bool is_writable) { atomic_fetch_add(&turns[is_writable][own], 1); }

static void wait_for(bool are_writable) {
  for (unsigned i = 0; i < RECEIVERS; i++) {
    unsigned turn = atomic_load(&turns[are_writable][i]);
    while (turn & 1 && atomic_load(&turns[are_writable][i]) == turn) sched_yield();
  }
}

void wait_for_writers(void) { wait_for(true); }

void wait_for_copies(void) {
  wait_for(false);
  wait_for(true);
}
