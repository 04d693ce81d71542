/* Prints how often the time stamp counter of this machine counts in a second, in kHz: an emulated guest sees the same. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

#define TRIALS 5

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Both clocks at one moment: of several tries the one in which the least time passed between them. */
static void read_both(uint64_t *ns, uint64_t *ticks) {
  uint64_t least = UINT64_MAX;
  for (int i = 0; i < TRIALS; i++) {
    uint64_t before = now_ns(), counted = __rdtsc(), after = now_ns();
    if (after - before >= least) continue;
    least = after - before;
    *ns = before + least / 2;
    *ticks = counted;
  }
}

int main(void) {
  struct timespec pause = {.tv_nsec = 300 * 1000 * 1000};
  uint64_t start_ns = 0, start = 0, end_ns = 0, end = 0;
  read_both(&start_ns, &start);
  nanosleep(&pause, NULL);
  read_both(&end_ns, &end);
  printf("%.0f\n", (double)(end - start) / (double)(end_ns - start_ns) * 1e6);
  return 0;
}
