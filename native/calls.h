/* The calls of one sandbox: started by calls.c, served by its holder. */
#ifndef CALLS_H
#define CALLS_H

#include "serve.h"

#define MAX_CALLS 64

struct call {
  uint32_t id;
  pid_t supervisor;
  int in, out, err, report, over, go /* by which a spare one is released */;
  char *input; /* what the program has not taken yet */
  size_t input_len, input_at, input_cap;
  bool is_input_over, is_over, is_ended;
};

struct calls {
  struct call *all[MAX_CALLS], *spare;
  bool has_had_spare; /* since the last call: one that could not be made, or has ended, is not tried again and again */
  char *boundary;
  size_t boundary_len;
};

void close_end(int *fd);
void free_call(struct call *call);
bool wants_spare(const struct calls *calls);
void make_spare(struct calls *calls);
struct call *start_call(struct calls *calls, uint32_t id, const char *bytes, size_t len);

#endif
