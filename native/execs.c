/* Execs that the kernel was told to go on with: what came of each shows in the next call of its process, or in its end. */
#define _GNU_SOURCE
#include "programs.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool has_ended(int pidfd) {
  struct pollfd fd = {pidfd, POLLIN, 0};
  return poll(&fd, 1, 0) != 0;
}

struct due_exec *find_due(struct program_table *table, pid_t tid) {
  for (size_t i = 0; i < table->due_count; i++)
    if (table->due[i]->tid == tid || table->due[i]->group == tid) return table->due[i];
  return NULL;
}

static void drop_due(struct program_table *table, size_t at) {
  struct due_exec *due = table->due[at];
  table->due[at] = table->due[--table->due_count];
  if (due->process >= 0) close(due->process);
  if (due->old_layout >= 0) close(due->old_layout);
  free(due);
}

/* One exec of a process that works is the end of all that its other threads have begun. */
void drop_due_of(struct program_table *table, pid_t tid, pid_t group) {
  for (size_t i = table->due_count; i-- > 0;)
    if (table->due[i]->tid == tid || table->due[i]->group == group) drop_due(table, i);
}

void keep_due(struct program_table *table, struct due_exec *due) {
  if (table->due_count == table->due_cap) {
    table->due_cap = table->due_cap ? table->due_cap * 2 : 64;
    table->due = realloc(table->due, table->due_cap * sizeof *table->due);
    if (!table->due) die("record", "out of memory");
  }
  table->due[table->due_count++] = due;
}

void note_exec(struct broker *b, const struct due_exec *due, const char *path, int error, enum fact_basis basis) {
  if (!due->program) return; /* assay's own search for the command */
  struct attempt attempt = {.program = due->program, .pidfd = -1, .dir = -1};
  struct request of_exec = {.broker = b, .attempt = &attempt};
  if (!strcmp(path, due->path)) snprintf(attempt.requested, sizeof attempt.requested, "%s", due->requested);
  record_fact(&of_exec, (struct fact){.op = "exec", .path = path, .error = error, .basis = basis});
}

/* It ended without a call after its exec, its own end included: a signal ended it, and what it would have said is not
   known. An exec that fails leaves a program that goes on, so this one is taken to have worked. */
void note_ended(struct broker *b, const struct due_exec *due) {
  struct program found = {.parent = usual_parent(b->programs, due->program), .image = due->path, .script = ""};
  if (!due->path[0]) return;
  stat(due->path, &found.st);
  count_start(b, &found);
  note_exec(b, due, due->path, 0, FACT_PREDICTED);
}

void settle_ended(struct broker *b) {
  struct program_table *table = b->programs;
  for (size_t i = table->due_count; i-- > 0;) {
    if (!has_ended(table->due[i]->process)) continue;
    note_ended(b, table->due[i]);
    drop_due(table, i);
  }
}

/* ---- what came of an exec ---- */

/* The name by which the kernel found what it executed, in its own copy. */
static bool is_executed_name(const struct request *r, const struct due_exec *due) {
  uint64_t bytes[96];
  char name[4096];
  int fd = open_layout(r->tid);
  ssize_t len = fd < 0 ? 0 : pread(fd, bytes, sizeof bytes, 0);
  if (fd >= 0) close(fd);
  for (size_t i = 0; i + 1 < (size_t)(len > 0 ? len : 0) / 8; i += 2)
    if (bytes[i] == 31 /* AT_EXECFN */ && fetch_string(r, bytes[i + 1], name, sizeof name) >= 0)
      return due->is_by_descriptor ? !strncmp(name, "/dev/fd/", 8) : !strcmp(name, due->requested);
  return false;
}

/* Does the script name this image as its interpreter, or another script that does? A relative name is looked for in the
   caller's directory, as the kernel does. */
static bool leads_to(int cwd, const char *script, const struct stat *image, int depth) {
  char line[257];
  struct stat st;
  int fd = openat(cwd, script, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ssize_t len = fd < 0 ? 0 : read(fd, line, sizeof line - 1);
  if (fd >= 0) close(fd);
  if (len < 2) return false;
  line[len] = 0;
  if (strncmp(line, "#!", 2)) return depth == 0 && strncmp(line, "\177ELF", 4); /* the host may know other kinds */
  char *name = line + 2 + strspn(line + 2, " \t");
  name[strcspn(name, " \t\r\n")] = 0;
  if (fstatat(cwd, name, &st, 0)) return false;
  return (st.st_dev == image->st_dev && st.st_ino == image->st_ino) || (depth < 5 && leads_to(cwd, name, image, depth + 1));
}

static bool is_led_to(const struct request *r, const struct due_exec *due, const struct stat *image) {
  int cwd = open_base(r, AT_FDCWD, "");
  bool is_led = leads_to(cwd, due->path, image, 0);
  if (cwd >= 0) close(cwd);
  return is_led;
}

/* What was asked for is known from memory that another thread may change, and links may lead elsewhere since. */
bool is_script_of(const struct request *r, const struct due_exec *due, const struct stat *image) {
  struct target t;
  if (!is_executed_name(r, due) || !is_led_to(r, due, image)) return false;
  if (due->is_by_descriptor) return true;
  snprintf(r->attempt->requested, sizeof r->attempt->requested, "%s", due->requested);
  bool is_same = !resolve_fetched(r, AT_FDCWD, FOLLOW, false, &t) && !strcmp(t.path, due->path);
  release(&t);
  r->attempt->requested[0] = 0;
  return is_same;
}

/* The call that every new program makes says nothing by itself, since any program can make it. But where layouts are not
   random it is the only sign; then the image before must be gone. */
bool is_other_image(const struct due_exec *due, uint64_t layout, bool is_new_image) {
  char byte;
  if (layout != due->layout) return true;
  return is_new_image && due->old_layout >= 0 && pread(due->old_layout, &byte, 1, 0) <= 0;
}

