/* What all file calls share: their target named by descriptors, checked on the canonical path, and then operated on through
   those descriptors. */
#define _GNU_SOURCE
#include "broker.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

void object_link(const struct target *t, char out[32]) { snprintf(out, 32, "/proc/self/fd/%d", t->object); }

/* Reads a path argument and resolves it. An empty path is ENOENT unless `empty_ok`, when the descriptor is meant. */
int resolve_argument(const struct request *r, int dirfd, uint64_t address, int follow, bool empty_ok, struct target *t) {
  char path[PATH_CAP];
  *t = (struct target){.parent = -1, .object = -1, .own_fd = -1};
  int len = fetch_string(r, address, path, 4096);
  if (len < 0) return len;
  if (len == 0 && !empty_ok) return -ENOENT;
  int base = open_base(r, dirfd, path);
  if (base < 0) return base;
  if (!is_still_waiting(r)) return close(base), -ESRCH;
  if (len) return resolve(r, base, path, follow, t);
  t->object = base;
  t->exists = true;
  if (fstat(base, &t->st)) return -errno;
  canonical_path(base, t->path, sizeof t->path);
  return 0;
}

bool may_create(struct broker *b) {
  uint64_t max = b->plan->max_files;
  return !max || atomic_fetch_add(&b->files_created, 1) < max;
}

/* A program that the host's root runs must not leave behind files that run with its rights for others. */
bool is_setuid_refused(const struct request *r, mode_t mode) { return r->broker->plan->uid == 0 && (mode & (S_ISUID | S_ISGID)); }

/* The kernel's own layers refused it. Ordinary permissions refuse too; those are the program's own business. */
void note_kernel_refusal(struct broker *b, const char *op, const char *path, uint32_t ops, int error) {
  if ((error == -EACCES || error == -EROFS || error == -EPERM) && !is_covered(b, path, ops)) note_refusal(b, op, path, NO_RULE, -error);
}
