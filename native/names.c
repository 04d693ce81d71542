/* What is done to a name is recorded in the order in which it is done, whoever does it: a name is held from before it is
   looked at for the last time until what was done to it is in the record. Those who change other names do not wait, as
   long as no directory is moved, which changes all names below it. */
#define _GNU_SOURCE
#include "broker.h"

#include <string.h>

static unsigned lock_of(const char *path, size_t len) {
  uint32_t h = 2166136261u;
  for (size_t i = 0; i < len; i++) h = (h ^ (unsigned char)path[i]) * 16777619u;
  return (h ^ h >> 15) % NAME_LOCKS;
}

static size_t parent_len(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash && slash > path ? (size_t)(slash - path) : slash && path[1] ? 1 : 0;
}

/* In order, so that no two wait for each other; whoever changes a name has it alone. */
static void add_lock(struct name_hold *hold, unsigned lock, bool is_changed) {
  size_t at = 0;
  while (at < hold->count && hold->locks[at].number < lock) at++;
  if (at < hold->count && hold->locks[at].number == lock) {
    hold->locks[at].is_changed |= is_changed;
    return;
  }
  memmove(&hold->locks[at + 1], &hold->locks[at], (hold->count++ - at) * sizeof *hold->locks);
  hold->locks[at] = (struct held_lock){lock, is_changed};
}

/* A name, which is changed, in a directory, which is there before and after. */
static void add_name(struct name_hold *hold, const char *path) {
  size_t above = parent_len(path);
  add_lock(hold, lock_of(path, strlen(path)), true);
  if (above) add_lock(hold, lock_of(path, above), false);
}

void hold_names(struct broker *b, const char *path, const char *other, struct name_hold *hold) {
  *hold = (struct name_hold){.names = &b->names};
  add_name(hold, path);
  if (other) add_name(hold, other);
  pthread_rwlock_rdlock(&hold->names->tree);
  for (size_t i = 0; i < hold->count; i++) {
    pthread_rwlock_t *lock = &hold->names->locks[hold->locks[i].number];
    if (hold->locks[i].is_changed) pthread_rwlock_wrlock(lock);
    else pthread_rwlock_rdlock(lock);
  }
}

/* To move a directory, or something that may be one. */
void hold_all_names(struct broker *b, struct name_hold *hold) {
  *hold = (struct name_hold){.names = &b->names};
  pthread_rwlock_wrlock(&hold->names->tree);
}

void let_names_go(struct name_hold *hold) {
  if (!hold->names) return;
  for (size_t i = hold->count; i-- > 0;) pthread_rwlock_unlock(&hold->names->locks[hold->locks[i].number]);
  pthread_rwlock_unlock(&hold->names->tree);
  hold->names = NULL;
}

void names_start(struct broker *b) {
  pthread_rwlock_init(&b->names.tree, NULL);
  for (size_t i = 0; i < NAME_LOCKS; i++) pthread_rwlock_init(&b->names.locks[i], NULL);
}
