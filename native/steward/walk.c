/* Finds what a path below the workspace means. Links are followed while they stay below it; one that leads out is refused
   with EXDEV. Every step is from a directory that is held open, so a link that appears meanwhile is not followed unseen. */
#define _GNU_SOURCE
#include "steward.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_DEPTH 200
#define MAX_LINKS 40

struct walk {
  int fds[MAX_DEPTH];
  size_t depth; /* fds[0] is the workspace */
  char rest[2 * PATH_MAX];
  int links;
};

int open_directory(int parent, const char *name) {
  int fd = openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  /* Not every kernel has descriptors that stand for a place only. */
  if (fd < 0 && errno == EINVAL) fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  return fd;
}

static void go_back(struct walk *w, size_t depth) {
  while (w->depth > depth) close(w->fds[w->depth--]);
}

/* Takes the first component off; false when there is none. */
static int next_component(struct walk *w, char name[256]) {
  const char *at = w->rest + strspn(w->rest, "/");
  size_t len = strcspn(at, "/");
  if (len == 0) return 0;
  if (len > 255) return -ENAMETOOLONG;
  memcpy(name, at, len);
  name[len] = 0;
  memmove(w->rest, at + len, strlen(at + len) + 1);
  return 1;
}

static int is_last(const struct walk *w) {
  return w->rest[strspn(w->rest, "/")] == 0;
}

static int follow_link(struct walk *w, const char *name) {
  char target[PATH_MAX], rest[2 * PATH_MAX];
  ssize_t len = readlinkat(w->fds[w->depth], name, target, sizeof target - 1);
  if (len < 0) return errno;
  target[len] = 0;
  if (++w->links > MAX_LINKS) return ELOOP;
  const char *path = target;
  if (*target == '/') {
    size_t root = strlen(WORKSPACE);
    if (strncmp(target, WORKSPACE, root) || (target[root] && target[root] != '/')) return EXDEV;
    path = target + root;
    go_back(w, 0);
  }
  if (strlen(path) + 1 + strlen(w->rest) >= sizeof rest) return ENAMETOOLONG;
  strcpy(rest, path);
  strcat(rest, "/");
  strcat(rest, w->rest);
  strcpy(w->rest, rest);
  return 0;
}

/* One component: 0 to go on, -1 when it is found, or why not. */
static int step(struct walk *w, const char *name, int follow, struct place *out) {
  if (strcmp(name, ".") == 0) return 0;
  if (strcmp(name, "..") == 0) {
    if (w->depth == 0) return EXDEV;
    go_back(w, w->depth - 1);
    return 0;
  }
  struct stat st;
  int has_last = is_last(w), is_there = fstatat(w->fds[w->depth], name, &st, AT_SYMLINK_NOFOLLOW) == 0;
  if (!is_there && (errno != ENOENT || !has_last)) return errno;
  if (is_there && S_ISLNK(st.st_mode) && (!has_last || follow)) return follow_link(w, name);
  if (has_last) {
    strcpy(out->name, name);
    return -1;
  }
  if (w->depth + 1 >= MAX_DEPTH) return ENAMETOOLONG;
  int fd = open_directory(w->fds[w->depth], name);
  if (fd < 0) return errno;
  w->fds[++w->depth] = fd;
  return 0;
}

/* The directory that holds the last component, which need not be there; the workspace itself is "." in itself. */
int find_place(const char *path, int follow, struct place *out) {
  struct walk w = {.depth = 0};
  if (strlen(path) >= PATH_MAX) return ENAMETOOLONG;
  strcpy(w.rest, path);
  w.fds[0] = open_directory(AT_FDCWD, WORKSPACE);
  if (w.fds[0] < 0) return errno;
  int error = 0;
  strcpy(out->name, ".");
  char name[256];
  for (int got; error == 0;) {
    got = next_component(&w, name);
    if (got == 0) break;
    error = got < 0 ? -got : step(&w, name, follow, out);
  }
  if (error > 0) {
    go_back(&w, 0);
    close(w.fds[0]);
    return error;
  }
  out->parent = w.fds[w.depth];
  while (w.depth > 0) close(w.fds[--w.depth]);
  return 0;
}
