/* What programs.c, starts.c and execs.c share. */
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
  bool is_refusal; /* by the kernel, as is on record already */
  int dirfd; /* that the path was relative to */
  struct stat st;       /* of the image that is to be expected */
  char image[PATH_CAP]; /* empty if the kernel knows no way to run the file */
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
  size_t due_count, due_cap, max_due;
  uint32_t unreadable; /* the program that was started last without a layout that can be read */
  pid_t pids[MAX_PIDS];
  size_t pid_count;
  pid_t highest_pid;
};

/* programs.c */
int open_layout(pid_t tid);

/* starts.c */
uint32_t program_of_layout(const struct program_table *table, uint64_t hash);
void keep_layout(struct program_table *table, uint64_t hash, uint32_t program);
struct program *find_predicted(struct program_table *table, const struct program *like);
struct program *count_start(struct broker *b, const struct program *found);

/* execs.c */
bool has_ended(int pidfd);
struct due_exec *find_due(struct program_table *table, pid_t tid);
void keep_due(struct program_table *table, struct due_exec *due);
void drop_due_of(struct program_table *table, pid_t tid, pid_t group);
void note_exec(struct broker *b, const struct due_exec *due, const char *path, int error, enum fact_basis basis);
void note_ended(struct broker *b, const struct due_exec *due);
void foresee_image(const struct request *r, const struct target *t, struct due_exec *due);
void settle_ended(struct broker *b);
struct due_exec *find_executed(const struct request *r, struct due_exec *due);
bool is_script_of(const struct request *r, const struct due_exec *due, const struct stat *image);
bool is_other_image(const struct due_exec *due, uint64_t layout, bool is_new_image);

#endif
