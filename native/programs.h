/* What programs.c and execs.c share. */
#ifndef ASSAY_PROGRAMS_H
#define ASSAY_PROGRAMS_H

#include "broker.h"

#define MAX_PIDS 4096

/* One start of a program. */
struct layout {
  uint64_t hash;
  uint32_t program;
};

/* An exec that the kernel was told to go on with, and that has neither been seen to work nor to fail. */
struct due_exec {
  pid_t tid, group;
  int process;    /* pidfd of the group: its number may come to mean another */
  int old_layout; /* can be read as long as the image that called is there */
  uint32_t program;
  uint64_t layout;
  bool is_by_descriptor;
  char path[PATH_CAP], requested[4096]; /* a name below a path of full length makes it longer */
};

struct program_table {
  pthread_mutex_t lock;
  uint64_t key[2], own_layout;
  struct layout *layouts;
  size_t layout_count, layout_cap;
  struct program *list;
  size_t count, cap;
  struct due_exec **due;
  size_t due_count, due_cap;
  uint32_t unreadable; /* the program that was started last without a layout that can be read */
  pid_t pids[MAX_PIDS];
  size_t pid_count;
};

/* programs.c */
uint32_t usual_parent(struct program_table *table, uint32_t parent);
struct program *count_start(struct broker *b, const struct program *found);
int open_layout(pid_t tid);

/* execs.c */
bool has_ended(int pidfd);
struct due_exec *find_due(struct program_table *table, pid_t tid);
void keep_due(struct program_table *table, struct due_exec *due);
void drop_due_of(struct program_table *table, pid_t tid, pid_t group);
void note_exec(struct broker *b, const struct due_exec *due, const char *path, int error, enum fact_basis basis);
void note_ended(struct broker *b, const struct due_exec *due);
void settle_ended(struct broker *b);
bool is_script_of(const struct request *r, const struct due_exec *due, const struct stat *image);
bool is_other_image(const struct due_exec *due, uint64_t layout, bool is_new_image);

#endif
