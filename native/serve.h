/* The resident helper: started once, it makes sandboxes for as long as assay lives. */
#ifndef SERVE_H
#define SERVE_H

#include "assay.h"

/* What goes over the connection of a sandbox, in both directions: the header, then `len` bytes. */
struct frame {
  uint8_t kind, unused[3];
  uint32_t call, len;
};

/* From assay: the files of the sandbox, the boundary of all its calls, a call, its input, what to do with it, a file. */
enum to_holder {
  TO_SETUP = 'S', TO_BOUNDARY = 'B', TO_RUN = 'R', TO_STDIN = 'I', TO_STDIN_END = 'E', TO_SIGNAL = 'K', TO_KILL = 'Z', TO_FILE = 'F'
};
/* To assay. */
enum from_holder {
  SAY_READY = 'r', SAY_FAILED = 'x', SAY_STDOUT = 'O', SAY_STDERR = 'X', SAY_TAKEN = 'A', SAY_REPORT = 'P', SAY_DONE = 'D', SAY_FILE = 'f'
};

enum workspace_kind { WORKSPACE_OWN = 0, WORKSPACE_READ_ONLY, WORKSPACE_WRITABLE };

struct setup {
  uint64_t work_bytes, work_inodes, tmp_bytes, tmp_inodes;
  uint32_t workspace, has_terminals;
  char host[]; /* a directory of the host, as it is seen where the opener is */
};

/* serve.c */
int run_serve(void);
int ask_for_mount(int opener, const char *path);

/* holder.c: one a sandbox; holds its files and runs its calls */
struct holder_start {
  int connection, opener, doors;
};
_Noreturn void run_holder(struct holder_start start);

/* main.c */
#define END_ALL (SIGRTMIN + 1) /* from a holder: end the tree */
#define PASS_ON (SIGRTMIN + 2) /* from a holder: the signal to be passed on is its value */
int run_plan(pid_t parent);

/* inside.c: what is done with a file of the workspace for somebody outside; the answer is malloc'ed */
struct answer {
  int error;
  char *bytes;
  size_t len;
};
struct answer perform_file(const char *request, size_t len);

#endif
