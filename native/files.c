/* What all file calls share: their target named by descriptors, checked on the canonical path, and then operated on through
   those descriptors. */
#define _GNU_SOURCE
#include "broker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void object_link(const struct target *t, char out[32]) { snprintf(out, 32, "/proc/self/fd/%d", t->object); }

/* The path of an operation that did not even come to its directory: as it was asked for, in words only. */
static void describe_failed(const struct request *r, int base, struct target *t) {
  const char *path = r->attempt->requested;
  size_t len = 0;
  if (base >= 0) {
    canonical_path(base, t->path, PATH_CAP / 2);
    len = strlen(t->path);
  }
  snprintf(t->path + len, PATH_CAP - len, "%s%s", len && t->path[len - 1] != '/' ? "/" : "", path);
}

int fetch_path(const struct request *r, uint64_t address) { return fetch_string(r, address, r->attempt->requested, sizeof r->attempt->requested); }

/* Resolves the path that was fetched. An empty one is ENOENT unless `empty_ok`, when the descriptor is meant. */
int resolve_fetched(const struct request *r, int dirfd, int follow, bool empty_ok, struct target *t) {
  const char *path = r->attempt->requested;
  clear_target(t);
  if (!path[0] && !empty_ok) return -ENOENT;
  int base = open_base(r, dirfd, path);
  if (base < 0) return base;
  if (!is_still_waiting(r)) return close_base(r, base), -ESRCH;
  if (path[0]) {
    int error = resolve(r, base, path, follow, t);
    if (error) describe_failed(r, path[0] == '/' ? -1 : base, t);
    close_base(r, base);
    return error;
  }
  t->object = base;
  t->exists = true;
  if (fstat(base, &t->st)) return -errno;
  canonical_path(base, t->path, sizeof t->path);
  return t->path[0] ? 0 : -ENAMETOOLONG;
}

int resolve_argument(const struct request *r, int dirfd, uint64_t address, int follow, bool empty_ok, struct target *t) {
  clear_target(t);
  int len = fetch_path(r, address);
  return len < 0 ? len : resolve_fetched(r, dirfd, follow, empty_ok, t);
}

/* Whether the path has come to mean something else since it was resolved and judged, or what a descriptor led to has
   another path. While the name is held, nothing inside makes it do so any more. */
bool has_moved(const struct target *t) {
  char path[PATH_CAP];
  struct stat st;
  if (t->parent < 0) {
    canonical_path(t->object, path, sizeof path);
    return strcmp(path, t->path);
  }
  canonical_path(t->parent, path, sizeof path - sizeof t->name - 1);
  size_t len = strlen(path);
  snprintf(path + len, sizeof path - len, "%s%s", len && path[len - 1] == '/' ? "" : "/", t->name);
  if (strcmp(path, t->path)) return true;
  bool exists = !fstatat(t->parent, t->name, &st, AT_SYMLINK_NOFOLLOW);
  return exists != t->exists || (exists && (st.st_dev != t->st.st_dev || st.st_ino != t->st.st_ino));
}

bool may_create(struct broker *b) {
  uint64_t max = b->plan->max_files;
  return !max || atomic_fetch_add(&b->files_created, 1) < max;
}

/* A program that the host's root runs must not leave behind files that run with its rights for others. */
bool is_setuid_refused(const struct request *r, mode_t mode) {
  const struct plan *plan = r->broker->plan;
  return plan->uid == 0 && (mode & (S_ISUID | S_ISGID)) && !(plan->flags & PLAN_OBSERVE_ONLY);
}

void note_refusal(const struct request *r, const char *op, const char *path, uint32_t rule, int error) {
  record_fact(r, (struct fact){.op = op, .path = path, .rule = rule, .error = error});
}

/* The kernel's own layers refused it. Ordinary permissions refuse too; those are the program's own business. */
void note_kernel_refusal(const struct request *r, const char *op, const char *path, uint32_t ops, int error) {
  if ((error == -EACCES || error == -EROFS || error == -EPERM) && !is_covered(r->broker, path, ops))
    record_fact(r, (struct fact){.op = op, .path = path, .rule = NO_RULE, .error = -error, .flags = FACT_KERNEL});
}

/* Held by a descriptor alone: a pipe, memory, or a file that has no name yet, or none any more. */
bool has_no_name(const struct target *t) {
  if (!t->exists || t->path[0] != '/') return t->exists;
  return !strncmp(t->path, "/memfd:", 7) || (!S_ISDIR(t->st.st_mode) && !t->st.st_nlink);
}

/* How it ended, unless it has been recorded as a refusal. */
void note_outcome(const struct request *r, struct fact fact) {
  if (fact.error == ESRCH || !fact.path[0]) return; /* the caller is gone, or named nothing */
  record_fact(r, fact);
}
