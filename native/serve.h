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
  TO_SETUP = 'S', TO_BOUNDARY = 'B', TO_RUN = 'R', TO_STDIN = 'I', TO_STDIN_END = 'E', TO_SIGNAL = 'K', TO_KILL = 'Z', TO_FILE = 'F', TO_CLOCK = 'C'
};
/* To assay. */
enum from_holder {
  SAY_READY = 'r', SAY_FAILED = 'x', SAY_STDOUT = 'O', SAY_STDERR = 'X', SAY_TAKEN = 'A', SAY_REPORT = 'P', SAY_DONE = 'D', SAY_FILE = 'f'
};

enum workspace_kind { WORKSPACE_OWN = 0, WORKSPACE_READ_ONLY, WORKSPACE_WRITABLE };

/* Then comes a directory of the host, as it is seen where the opener is. */
struct setup {
  uint64_t work_bytes, work_inodes, tmp_bytes, tmp_inodes;
  uint32_t workspace, has_terminals;
};

/* mounts.c */
#define WORKSPACE "/workspace"
#define TEMPORARY "/tmp"
void mount_files(int opener, const struct setup *setup, const char *host);

/* root.c */
struct script {
  uint32_t uid, gid;
  char *steps;
  size_t len;
  const char *sockets; /* a directory, for the sockets that assay connects to */
};
void build_tree(const struct script *script);

/* serve.c */
int run_serve(void);
int ask_for_mount(int opener, const char *path);

/* What assay says first on every connection: what it is for. */
enum greeting_kind { GREET_SANDBOX = 1, GREET_FORKER };
struct greeting {
  uint32_t kind, forker; /* by which a sandbox is forked; 0 for the helper itself */
  uint32_t doors;        /* its number among those with doors; 0 for one without */
};

#define MAX_FORKERS 256
/* forker.c: stays in cgroups that were made for sandboxes, so that what it forks is born there */
struct holder_start {
  int connection, opener;
  uint32_t doors;
};
_Noreturn void run_forker(int control, int work, int opener);
void fork_holder(struct holder_start start, const int *to_close, size_t count);

/* holder.c: one a sandbox; holds its files and runs its calls */
_Noreturn void run_holder(struct holder_start start);

/* main.c */
#define OVER_FD (DOORS_FD + 1) /* to a holder: the program and everything that it started have ended */
#define END_ALL (SIGRTMIN + 1) /* from a holder: end the tree */
#define PASS_ON (SIGRTMIN + 2) /* from a holder: the signal to be passed on is its value */
#define START_CLOCK (SIGRTMIN + 3) /* from a holder: the call begins now, and has as many milliseconds as its value says */
int run_plan(struct owner guess, pid_t parent);

/* inside.c: what is done with a file of the workspace for somebody outside; the answer is malloc'ed */
struct answer {
  int error;
  char *bytes;
  size_t len;
};
struct answer perform_file(const char *request, size_t len);
int write_whole(int fd, const char *bytes, size_t len);

/* aftermath.c */
struct text {
  char *bytes;
  size_t len, cap;
};
void append(struct text *t, const void *bytes, size_t len);
void append_name(struct text *t, const char *name);
struct answer to_answer(struct text *t);
char kind_of(mode_t mode);
struct answer read_states(const char *names, size_t len);
struct answer list_whole(const char *names, size_t len);

/* code.c */
void make_code_place(void);
int hold_code(const char *name, bool is_held);
int put_code(const char *name, const char *bytes, size_t len);

#endif
