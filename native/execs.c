/* Execs that the kernel was told to go on with: what came of each shows in the next call of its process, or in its end. */
#define _GNU_SOURCE
#include "programs.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_INTERPRETERS 5 /* of interpreters, as the kernel has it */

bool has_ended(int pidfd) {
  struct pollfd fd = {pidfd, POLLIN, 0};
  return poll(&fd, 1, 0) != 0;
}

/* A thread whose exec works becomes the first of its process, and its number may be another's before that makes a call. */
struct due_exec *find_due(struct program_table *table, pid_t tid) {
  for (size_t i = 0; i < table->due_count; i++) {
    struct due_exec *due = table->due[i];
    if (due->group == tid || (due->tid == tid && thread_group(tid) == due->group)) return due;
  }
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
   known. An exec that fails leaves a program that goes on, so this one is taken to have worked, if it could. */
void note_ended(struct broker *b, const struct due_exec *due) {
  bool is_script = strcmp(due->image, due->path);
  struct program found = {.parent = due->program, .image = due->image, .script = is_script ? due->path : "", .st = due->st, .is_predicted = true};
  if (!due->path[0] || due->is_refusal) return;
  if (due->image[0]) count_start(b, &found);
  note_exec(b, due, due->path, due->image[0] ? 0 : -1, FACT_PREDICTED);
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
  char name[4096 + 32], expected[4096 + 32];
  if (due->dirfd == AT_FDCWD) snprintf(expected, sizeof expected, "%s", due->requested);
  else snprintf(expected, sizeof expected, "/dev/fd/%d%s%s", due->dirfd, due->requested[0] ? "/" : "", due->requested);
  int fd = open_layout(r->tid);
  ssize_t len = fd < 0 ? 0 : pread(fd, bytes, sizeof bytes, 0);
  if (fd >= 0) close(fd);
  for (size_t i = 0; i + 1 < (size_t)(len > 0 ? len : 0) / 8; i += 2)
    if (bytes[i] == 31 /* AT_EXECFN */ && fetch_string(r, bytes[i + 1], name, sizeof name) >= 0) return !strcmp(name, expected);
  return false;
}

/* Several threads of a process may have begun one, of which one has worked. */
struct due_exec *find_executed(const struct request *r, struct due_exec *due) {
  struct program_table *table = r->broker->programs;
  for (size_t i = 0; i < table->due_count; i++) {
    struct due_exec *other = table->due[i];
    if (other != due && other->group == due->group && is_executed_name(r, other)) return other;
  }
  return due;
}

/* The first bytes of a file, with a zero behind them; and what they name as its interpreter, or NULL. */
#define HEAD_CAP 257

static bool read_head(int fd, char head[HEAD_CAP]) {
  ssize_t len = fd < 0 ? 0 : pread(fd, head, HEAD_CAP - 1, 0);
  head[len > 0 ? len : 0] = 0;
  return len >= 2;
}

static char *interpreter_of(char head[HEAD_CAP]) {
  if (strncmp(head, "#!", 2)) return NULL;
  char *name = head + 2 + strspn(head + 2, " \t");
  name[strcspn(name, " \t\r\n")] = 0;
  return name;
}

static bool is_elf(const char *head) { return !strncmp(head, "\177ELF", 4); }

static int open_to_read(int at, const char *path) { return openat(at, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); }

/* Does the script name this image as its interpreter, or another script that does? A relative name is looked for in the
   caller's directory, as the kernel does. */
static bool leads_to(int cwd, const char *script, const struct stat *image, int depth) {
  char head[HEAD_CAP];
  struct stat st;
  int fd = open_to_read(cwd, script);
  bool is_read = read_head(fd, head);
  if (fd >= 0) close(fd);
  if (!is_read) return false;
  char *name = interpreter_of(head);
  if (!name) return depth == 0 && !is_elf(head); /* the host may know other kinds */
  if (fstatat(cwd, name, &st, 0)) return false;
  return (st.st_dev == image->st_dev && st.st_ino == image->st_ino) || (depth < MAX_INTERPRETERS && leads_to(cwd, name, image, depth + 1));
}

/* What the kernel can make of the file, now that it is there: itself, its interpreter, or nothing. */
void foresee_image(const struct request *r, const struct target *t, struct due_exec *due) {
  char link[32], head[HEAD_CAP], *name = NULL;
  object_link(t, link);
  int fd = t->object < 0 ? -1 : open_to_read(AT_FDCWD, link), cwd = -1;
  due->st = t->st;
  if (fd < 0 || (read_head(fd, head) && is_elf(head))) snprintf(due->image, sizeof due->image, "%s", due->path);
  for (int depth = 0; fd >= 0 && depth <= MAX_INTERPRETERS && (name = interpreter_of(head)); depth++) {
    if (cwd < 0) cwd = open_base(r, AT_FDCWD, "");
    close(fd);
    fd = open_to_read(cwd, name);
    if (read_head(fd, head) && is_elf(head) && !fstat(fd, &due->st)) canonical_path(fd, due->image, sizeof due->image);
  }
  if (cwd >= 0) close(cwd);
  if (fd >= 0) close(fd);
}

/* By what is held, since it need not have a name. */
static bool is_led_to(const struct request *r, const struct target *script, const struct stat *image) {
  char link[32];
  object_link(script, link);
  int cwd = open_base(r, AT_FDCWD, "");
  bool is_led = leads_to(cwd, link, image, 0);
  if (cwd >= 0) close(cwd);
  return is_led;
}

/* What was asked for is known from memory that another thread may change; links may lead elsewhere since, and the number of
   a descriptor, which an interpreter must still have to read the script, may mean another. */
bool is_script_of(const struct request *r, const struct due_exec *due, const struct stat *image) {
  struct target t;
  struct attempt attempt = {.pidfd = -1, .dir = -1}; /* what is known of the call that is made now stays as it is */
  struct request of_exec = *r;
  if (!is_executed_name(r, due)) return false;
  of_exec.attempt = &attempt;
  snprintf(attempt.requested, sizeof attempt.requested, "%s", due->requested);
  bool is_same = !resolve_fetched(&of_exec, due->dirfd, FOLLOW, due->dirfd != AT_FDCWD, &t) && !strcmp(t.path, due->path);
  bool is_led = is_same && t.object >= 0 && is_led_to(&of_exec, &t, image);
  release(&t);
  return is_led;
}

/* The call that every new program makes says nothing by itself, since any program can make it. But where layouts are not
   random it is the only sign; then the image before must be gone. */
bool is_other_image(const struct due_exec *due, uint64_t layout, bool is_new_image) {
  char byte;
  if (layout != due->layout) return true;
  return is_new_image && due->old_layout >= 0 && pread(due->old_layout, &byte, 1, 0) <= 0;
}

