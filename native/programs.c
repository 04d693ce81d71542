/* Which program a call comes from. A process is told from every other, also from one that gets its number later, by its
   pidfd; what it runs is told by its image and by where the kernel has laid it out, which forks keep and execs change. */
#define _GNU_SOURCE
#include "programs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define MAX_DIGESTED (1ll << 30) /* bytes; a larger program is not read, and has no digest */
#define SETTLED_NS 100000000
#define MAX_TASKS 1024
#define MAX_COMMANDS 16
#define COMMAND_CAP 8192

/* A process or thread that was seen lately. */
struct task {
  pid_t tid;
  int pidfd;
  uint32_t program;
  unsigned turn; /* of the slot when this was found out */
  struct known_mask mask;
};

/* Each receiver has its own list, so that no other thread closes a descriptor that it uses. An exec, which makes what
   is known of a process stale, is told by a turn of its slot. */
static __thread struct task *tasks;
static atomic_uint turns[MAX_TASKS];
static size_t task_slots = MAX_TASKS; /* a power of two; each holds a descriptor */

/* ---- what a process runs now ---- */

/* The auxiliary vector holds addresses that the kernel chose at random when it started the image. */
int open_layout(pid_t tid) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/auxv", tid);
  return open(path, O_RDONLY | O_CLOEXEC);
}

static uint64_t hash_layout(const struct program_table *table, pid_t tid, int fd) {
  char path[64];
  uint64_t bytes[96];
  struct stat st;
  if (fd < 0) return 0;
  ssize_t len = pread(fd, bytes, sizeof bytes - 16, 0);
  snprintf(path, sizeof path, "/proc/%d/exe", tid);
  if (len <= 0 || stat(path, &st)) return 0;
  size_t words = (size_t)len / 8;
  bytes[words] = st.st_dev;
  bytes[words + 1] = st.st_ino;
  uint64_t hash = keyed_hash(table->key, bytes, (words + 2) * 8);
  return hash ? hash : 1;
}

static uint64_t read_layout(const struct program_table *table, pid_t tid) {
  int fd = open_layout(tid);
  uint64_t hash = hash_layout(table, tid, fd);
  if (fd >= 0) close(fd);
  return hash;
}

static void read_commands(struct broker *b, struct program *program, pid_t tid) {
  char bytes[COMMAND_CAP + 1];
  if (program->command_count > MAX_COMMANDS) return;
  size_t len = read_proc(tid, "cmdline", bytes, sizeof bytes);
  if (!len) return;
  bool is_cut = len == COMMAND_CAP;
  bytes[len - 1] = 0;
  uint64_t hash = keyed_hash(b->programs->key, bytes, len);
  for (unsigned i = 0; i < program->command_count; i++)
    if (program->commands[i] == hash) return;
  bool is_over = program->command_count == MAX_COMMANDS; /* then it is only said that there are more */
  if (!is_over) program->commands[program->command_count] = hash;
  program->command_count++;
  record_command(b, program->id, bytes, is_over ? 0 : len, is_over || is_cut);
}

/* The digest of the same file as it was read before. A change that comes so soon that it may bear the same time counts
   as one, and where times do not tell anything may be one: then the file is read again. */
static bool reuse_digest(const struct program_table *table, struct program *found) {
  const struct stat *now = &found->st;
  for (size_t i = is_timeless(now->st_dev) ? 0 : table->count; i-- > 0;) {
    const struct program *p = &table->list[i];
    bool is_same = p->digest[0] && p->st.st_dev == now->st_dev && p->st.st_ino == now->st_ino && p->st.st_size == now->st_size &&
                   nanoseconds(p->st.st_ctim) == nanoseconds(now->st_ctim) && nanoseconds(p->st.st_mtim) == nanoseconds(now->st_mtim);
    if (!is_same || p->digested_ns - nanoseconds(now->st_ctim) < SETTLED_NS) continue;
    memcpy(found->digest, p->digest, sizeof found->digest);
    found->digested_ns = p->digested_ns;
    return true;
  }
  return false;
}

/* An image that may not be read, or lies too deep for its name to be told, is called as it was asked for. */
static void name_image(int fd, const struct due_exec *due, char image[PATH_CAP]) {
  image[0] = 0;
  if (fd >= 0) canonical_path(fd, image, PATH_CAP);
  if (!image[0] && due) snprintf(image, PATH_CAP, "%s", due->path);
}

/* System programs are read by assay after the run; those that the run can change are read now, while they run. */
static void read_image(struct broker *b, pid_t tid, const struct due_exec *due, struct program *found, char image[PATH_CAP]) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/exe", tid);
  int fd = open(path, O_PATH | O_CLOEXEC);
  name_image(fd, due, image);
  bool is_known = fd >= 0 && !fstat(fd, &found->st);
  if (fd >= 0) close(fd);
  if (!is_known || !is_covered(b, image, OP_WRITE) || found->st.st_size > MAX_DIGESTED || reuse_digest(b->programs, found)) return;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  found->digested_ns = nanoseconds(now);
  fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  file_digest(fd, found->digest);
  close(fd);
}

static uint32_t start_program(const struct request *r, uint64_t layout, const struct due_exec *due) {
  struct broker *b = r->broker;
  char image[PATH_CAP];
  struct program found = {.parent = due ? due->program : 0, .script = ""};
  read_image(b, r->tid, due, &found, image);
  found.image = image;
  if (due && strcmp(due->path, image) && is_script_of(r, due, &found.st)) found.script = due->path;
  if (!is_still_waiting(r)) return 0; /* killed meanwhile, perhaps before all of this was read */
  if (!due) settle_ended(b);
  struct program *p = due ? NULL : find_predicted(b->programs, &found);
  if (!p) p = count_start(b, &found);
  if (due) note_exec(b, due, found.script[0] ? found.script : image, 0, FACT_OBSERVED);
  read_commands(b, p, r->tid);
  if (layout) keep_layout(b->programs, layout, p->id);
  else b->programs->unreadable = p->id;
  return p->id;
}

/* Numbers of processes, where they are not a range of their own. */
static void note_pid(struct program_table *table, pid_t tid) {
  if (tid > table->highest_pid) table->highest_pid = tid;
  for (size_t i = table->pid_count; i-- > 0 && table->pid_count - i < 8;)
    if (table->pids[i] == tid) return;
  if (table->pid_count < MAX_PIDS) table->pids[table->pid_count++] = tid;
}

/* The first call of a program may be made by a thread or a fork of what was started: the exec that has led to this layout;
   or, where that process has no layout any more, to this image. */
static struct due_exec *find_begun(struct program_table *table, pid_t tid, uint64_t layout) {
  char path[64];
  struct stat st;
  struct due_exec *gone = NULL;
  snprintf(path, sizeof path, "/proc/%d/exe", tid);
  bool is_known = layout && !stat(path, &st);
  for (size_t i = 0; is_known && i < table->due_count; i++) {
    struct due_exec *due = table->due[i];
    bool is_gone = has_ended(due->process);
    uint64_t its = is_gone ? 0 : read_layout(table, due->group);
    if (its == layout && !has_ended(due->process)) return due;
    if ((is_gone || !its) && due->st.st_dev == st.st_dev && due->st.st_ino == st.st_ino) gone = due;
  }
  return gone;
}

/* A fork has the layout of its parent; a layout that was never seen is a program that has just been started. */
static uint32_t find_out(const struct request *r, bool is_new_image) {
  struct program_table *table = r->broker->programs;
  struct due_exec *due = find_due(table, r->tid);
  if (due && has_ended(due->process)) settle_ended(r->broker), due = find_due(table, r->tid); /* of another process */
  uint64_t layout = read_layout(table, r->tid);
  bool has_worked = due && due->group == r->tid && is_other_image(due, layout, is_new_image);
  uint32_t program = has_worked ? 0 : layout ? program_of_layout(table, layout) : table->unreadable;
  note_pid(table, r->tid);
  if (has_worked || (!program && layout != table->own_layout)) {
    struct due_exec *begun = has_worked ? due : find_begun(table, r->tid, layout);
    if (begun) begun = find_executed(r, begun);
    program = start_program(r, layout, begun);
    if (begun && program) drop_due_of(table, begun->tid, begun->group);
  } else if (due && due->tid == r->tid) {
    if (!due->is_refusal) note_exec(r->broker, due, due->path, -1, FACT_OBSERVED);
    drop_due_of(table, r->tid, 0);
  }
  return program;
}

static size_t slot_of(pid_t tid) { return (size_t)tid & (task_slots - 1); }

static struct task *own_task(pid_t tid) {
  if (!tasks) {
    tasks = malloc(task_slots * sizeof *tasks);
    if (!tasks) die("record", "out of memory");
    for (size_t i = 0; i < task_slots; i++) tasks[i] = (struct task){.pidfd = -1};
  }
  return &tasks[slot_of(tid)];
}

/* Whether the number is another process's by now. Most opens name a directory by a descriptor, and a copy of that can only
   be had of a process that is there. */
static bool is_other(const struct request *r, const struct task *task) {
  if (task->pidfd < 0) return true;
  if (r->nr != SYS_openat || (int)r->args[0] < 0 || !can_copy(r)) return has_ended(task->pidfd);
  r->attempt->dir = (int)syscall(SYS_pidfd_getfd, task->pidfd, (int)r->args[0], 0);
  return r->attempt->dir < 0 && has_ended(task->pidfd);
}

/* The process is waiting for our answer, so what is read of it now is true of the call. */
void identify(const struct request *r, bool is_new_image) {
  struct program_table *table = r->broker->programs;
  struct task *task = own_task(r->tid);
  unsigned turn = atomic_load(&turns[slot_of(r->tid)]);
  if (is_new_image || task->tid != r->tid || task->turn != turn || is_other(r, task)) {
    if (task->pidfd >= 0) close(task->pidfd);
    *task = (struct task){.tid = r->tid, .pidfd = (int)syscall(SYS_pidfd_open, r->tid, PIDFD_THREAD_), .turn = turn};
    pthread_mutex_lock(&table->lock);
    task->program = find_out(r, is_new_image);
    if (!task->program || find_due(table, r->tid)) task->tid = 0; /* not settled yet */
    pthread_mutex_unlock(&table->lock);
  }
  r->attempt->program = task->program;
  r->attempt->pidfd = task->pidfd;
  r->attempt->mask = &task->mask;
}

static void turn_slot(pid_t tid) { atomic_fetch_add(&turns[slot_of(tid)], 1); }

/* A process ends by a call of its own: the last moment to see what it has become. */
void settle_exec(const struct request *r) {
  struct program_table *table = r->broker->programs;
  pthread_mutex_lock(&table->lock);
  bool is_due = find_due(table, r->tid) != NULL;
  pthread_mutex_unlock(&table->lock);
  if (is_due) identify(r, false);
}

/* The kernel goes on with an exec: whether it works shows in the next call of that process. False where so many have begun
   one, and made no call since, that there are no descriptors to follow another. One that is to be refused is followed as
   well: the kernel may find another path in memory than we did. */
bool expect_exec(const struct request *r, const struct target *t, bool is_refusal) {
  struct program_table *table = r->broker->programs;
  struct due_exec *due = calloc(1, sizeof *due);
  const char *requested = r->attempt->requested;
  pid_t group = thread_group(r->tid);
  if (!due) die("record", "out of memory");
  *due = (struct due_exec){.tid = r->tid, .group = group, .program = r->attempt->program, .old_layout = open_layout(r->tid), .is_refusal = is_refusal};
  due->process = (int)syscall(SYS_pidfd_open, group, 0);
  due->dirfd = r->nr == SYS_execveat && requested[0] != '/' ? (int)r->args[0] : AT_FDCWD;
  snprintf(due->path, sizeof due->path, "%s", t->path);
  snprintf(due->requested, sizeof due->requested, "%s", requested);
  foresee_image(r, t, due);
  pthread_mutex_lock(&table->lock);
  due->layout = hash_layout(table, r->tid, due->old_layout);
  drop_due_of(table, r->tid, 0);
  if (table->due_count == table->due_cap || table->due_count >= table->max_due) settle_ended(r->broker);
  keep_due(table, due);
  /* The exec of another thread has ended this one before its own began, or else is not seen before we let go of the lock. */
  bool is_gone = !is_still_waiting(r), is_followed = table->due_count <= table->max_due;
  if (is_gone || !is_followed) drop_due_of(table, r->tid, 0);
  turn_slot(r->tid);
  if (group != r->tid) turn_slot(group), doubt_mask_of(group);
  pthread_mutex_unlock(&table->lock);
  return is_followed;
}

/* It was killed while it waited. */
void forget_exec(const struct request *r) {
  struct program_table *table = r->broker->programs;
  pthread_mutex_lock(&table->lock);
  drop_due_of(table, r->tid, 0);
  pthread_mutex_unlock(&table->lock);
}

/* Most descriptors are for what is done for the programs. There are two lists of tasks, and two descriptors an exec. */
static void share_descriptors(struct program_table *table) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit)) limit.rlim_cur = 1024;
  while (task_slots > 16 && task_slots * 8 > limit.rlim_cur) task_slots /= 2;
  table->max_due = limit.rlim_cur / 4;
}

void programs_start(struct broker *b, pid_t program) {
  struct program_table *table = calloc(1, sizeof *table);
  if (!table || getrandom(table->key, sizeof table->key, 0) != sizeof table->key) die_errno("record", "start");
  share_descriptors(table);
  table->own_layout = read_layout(table, program); /* until its first exec it runs what we do */
  pthread_mutex_init(&table->lock, NULL);
  b->programs = table;
}

static unsigned long long last_pid(void) {
  char text[32] = "";
  int fd = open("/proc/sys/kernel/ns_last_pid", O_RDONLY | O_CLOEXEC);
  if (fd < 0 || read(fd, text, sizeof text - 1) < 0) text[0] = 0;
  if (fd >= 0) close(fd);
  return strtoull(text, NULL, 10);
}

void programs_finish(struct broker *b) {
  struct program_table *table = b->programs;
  struct pair_list starts = {.name = "n"}, pids = {.name = "pids"};
  pthread_mutex_lock(&table->lock);
  for (size_t i = 0; i < table->due_count; i++) note_ended(b, table->due[i]); /* all have ended by now */
  table->due_count = 0;
  pthread_mutex_unlock(&table->lock);
  for (size_t i = 0; i < table->count; i++)
    if (table->list[i].starts > 1) record_pair(b, &starts, i + 1, table->list[i].starts);
  record_pairs_end(b, &starts);
  unsigned long long last = b->plan->namespaces & NS_PID ? last_pid() : 0, highest = (unsigned)table->highest_pid;
  if (last && highest > last) last = highest; /* the numbers have begun anew */
  if (last >= b->plan->first_pid && last) record_pair(b, &pids, b->plan->first_pid, last);
  else
    for (size_t i = 0; i < table->pid_count; i++) record_pair(b, &pids, (unsigned)table->pids[i], (unsigned)table->pids[i]);
  record_pairs_end(b, &pids);
}
