/* The mask that new files are made under, which is the caller's. Asking for it takes longer than making the file, so what
   is known of it is kept. A call that sets one is left to the kernel, and may take effect long after it was seen: so what it
   sets is what it says from then on, for all that share it with the caller. */
#define _GNU_SOURCE
#include "programs.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KCMP_FS_ 3
#define MAX_SETTERS 32

/* A thread that has set one. Where another that shares it has done so as well, it is not known who was last. */
struct setter {
  pid_t tid;
  int pidfd;
  mode_t mask;
  bool is_unsure;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct setter setters[MAX_SETTERS];
static size_t setter_count;
static bool are_too_many; /* then nothing is kept any more */
static atomic_uint turn;  /* how often one was set: at first, the launch mask is everybody's */

static void drop_ended(void) {
  for (size_t i = setter_count; i-- > 0;)
    if (has_ended(setters[i].pidfd)) {
      close(setters[i].pidfd);
      setters[i] = setters[--setter_count];
    }
}

/* 0 if they share it, less if nobody can tell. */
static long compare(pid_t tid, pid_t other) { return tid == other ? 0 : syscall(SYS_kcmp, tid, other, KCMP_FS_, 0, 0); }

static struct setter *find_setter(pid_t tid) {
  for (size_t i = 0; i < setter_count; i++)
    if (setters[i].tid == tid) return &setters[i];
  int pidfd = setter_count < MAX_SETTERS ? (int)syscall(SYS_pidfd_open, tid, PIDFD_THREAD_) : -1;
  if (pidfd < 0) return NULL;
  setters[setter_count] = (struct setter){.tid = tid, .pidfd = pidfd};
  return &setters[setter_count++];
}

static void keep_setter(pid_t tid, mode_t mask) {
  drop_ended();
  struct setter *own = find_setter(tid);
  if (!own) are_too_many = true;
  if (are_too_many) return;
  own->mask = mask;
  own->is_unsure = false;
  for (size_t i = 0; i < setter_count; i++)
    if (&setters[i] != own && compare(tid, setters[i].tid) <= 0) own->is_unsure = setters[i].is_unsure = true;
}

/* A thread that executes something gets the number of the first one of its process, whose mask need not be its own. */
void doubt_mask_of(pid_t tid) {
  pthread_mutex_lock(&lock);
  for (size_t i = 0; i < setter_count; i++)
    if (setters[i].tid == tid) setters[i].is_unsure = true;
  pthread_mutex_unlock(&lock);
}

void note_umask(const struct request *r) {
  pthread_mutex_lock(&lock);
  keep_setter(r->tid, (mode_t)(r->args[0] & 0777));
  atomic_fetch_add(&turn, 1);
  pthread_mutex_unlock(&lock);
}

/* What the one thread has set that shares its mask with this one. */
enum set_by { SET_BY_NONE, SET_BY_ONE, SET_BY_UNKNOWN };
static enum set_by find_set(pid_t tid, mode_t *mask) {
  drop_ended();
  for (size_t i = 0; i < setter_count && !are_too_many; i++) {
    long difference = compare(tid, setters[i].tid);
    if (difference > 0) continue;
    *mask = setters[i].mask;
    return difference < 0 || setters[i].is_unsure ? SET_BY_UNKNOWN : SET_BY_ONE;
  }
  return are_too_many ? SET_BY_UNKNOWN : SET_BY_NONE;
}

static mode_t ask_for_mask(const struct request *r) {
  char text[512];
  read_proc(r->tid, "status", text, sizeof text);
  char *line = strstr(text, "\nUmask:");
  return line ? (mode_t)strtoul(line + 7, NULL, 8) : r->broker->launch_umask;
}

static mode_t find_mask(const struct request *r) {
  struct known_mask *known = r->attempt->mask;
  unsigned now = atomic_load(&turn);
  mode_t mask = r->broker->launch_umask;
  if (!now) return mask;
  if (!known || r->attempt->pidfd < 0) return ask_for_mask(r);
  if (known->turn == now) return known->mask;
  pthread_mutex_lock(&lock);
  enum set_by found = find_set(r->tid, &mask);
  pthread_mutex_unlock(&lock);
  if (found != SET_BY_ONE) mask = ask_for_mask(r);
  if (found != SET_BY_UNKNOWN) *known = (struct known_mask){now, mask};
  return mask;
}

static pthread_mutex_t shared = PTHREAD_MUTEX_INITIALIZER;
static __thread bool is_shared, has_turn;

/* Mask and directory are this thread's own. Where the filter of an engine around us refuses that, the threads take turns. */
void own_mask(void) { is_shared = unshare(CLONE_FS) != 0; }

/* Until let_mask_go(). Names are held before it is used, and not while. */
void use_umask_of(const struct request *r) {
  static __thread mode_t current = (mode_t)-1;
  mode_t mask = find_mask(r);
  if (is_shared && !has_turn) pthread_mutex_lock(&shared), has_turn = true;
  if (is_shared || mask != current) umask(mask);
  current = mask;
}

void let_mask_go(void) {
  if (!has_turn) return;
  has_turn = false;
  pthread_mutex_unlock(&shared);
}
