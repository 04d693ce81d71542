/* The git guard. A file that makes git run programs later, outside, may be created by the run but not changed where it
   was there before; what the run created is looked at when it is over. It goes by what a directory is, not by its name. */
#define _GNU_SOURCE
#include "broker.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool inode_set_has(struct broker *b, struct inode_set *set, const struct stat *st) {
  bool found = false;
  pthread_mutex_lock(&b->lock);
  for (size_t i = 0; i < set->count && !found; i++) found = set->items[i].dev == st->st_dev && set->items[i].ino == st->st_ino;
  pthread_mutex_unlock(&b->lock);
  return found;
}

void inode_set_add(struct broker *b, struct inode_set *set, const struct stat *st) {
  if (inode_set_has(b, set, st)) return;
  pthread_mutex_lock(&b->lock);
  if (set->count == set->cap) {
    size_t cap = set->cap ? set->cap * 2 : 64;
    struct inode_id *items = realloc(set->items, cap * sizeof *items);
    if (!items) _exit(125); /* without memory the guard cannot hold: nothing goes on */
    set->items = items;
    set->cap = cap;
  }
  set->items[set->count++] = (struct inode_id){st->st_dev, st->st_ino};
  pthread_mutex_unlock(&b->lock);
}

static bool has_entry(const char *dir, size_t len, const char *name) {
  char path[PATH_CAP];
  struct stat st;
  int n = snprintf(path, sizeof path, "%.*s/%s", (int)len, dir, name);
  return n > 0 && n < PATH_CAP && !lstat(path, &st);
}

static bool is_git_dir(const char *dir, size_t len) {
  return has_entry(dir, len, "HEAD") && (has_entry(dir, len, "objects") || has_entry(dir, len, "commondir"));
}

/* `…/hooks` or `…/hooks/…` with a git directory above it. */
static bool is_hook(const char *path) {
  for (const char *at = path; (at = strstr(at, "/hooks")); at += 6)
    if ((at[6] == 0 || at[6] == '/') && is_git_dir(path, (size_t)(at - path))) return true;
  return false;
}

static bool is_config_name(const char *name) { return !strcmp(name, "config") || !strcmp(name, "config.worktree"); }

static const char *last_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : "";
}

static bool stat_dir_of(const char *path, struct stat *st) {
  char dir[PATH_CAP];
  size_t len = (size_t)(last_name(path) - path);
  if (len < 2 || len >= sizeof dir) return false;
  memcpy(dir, path, len - 1);
  dir[len - 1] = 0;
  return !stat(dir, st);
}

static bool is_guarded(struct broker *b, const char *path) {
  return (b->plan->flags & PLAN_GIT_GUARD) && path[0] == '/' && !is_in_private_tmp(b, path);
}

/* In a git directory that was there before the run? */
static bool is_in_old_git_dir(struct broker *b, const char *path) {
  struct stat dir;
  const char *name = last_name(path);
  return name > path + 1 && is_git_dir(path, (size_t)(name - path - 1)) && stat_dir_of(path, &dir) && !inode_set_has(b, &b->born_git_dirs, &dir);
}

/* The path decides, not how it was reached: a descriptor link has no name of its own. */
bool guard_refuses(struct broker *b, const struct target *t) {
  if (!is_guarded(b, t->path)) return false;
  if (is_hook(t->path)) return true;
  const char *name = last_name(t->path);
  if (!strcmp(name, ".git")) return t->exists && !S_ISDIR(t->st.st_mode) && !inode_set_has(b, &b->created_configs, &t->st);
  if (!is_config_name(name) && strcmp(name, "commondir")) return false;
  if (t->exists && inode_set_has(b, &b->created_configs, &t->st)) return false;
  return is_in_old_git_dir(b, t->path);
}

/* What makes a directory a git directory stays while the guard needs it to tell. It may be replaced, as git does. */
bool guard_refuses_removal(struct broker *b, const struct target *t) {
  const char *name = last_name(t->path);
  if (!is_guarded(b, t->path)) return false;
  return (!strcmp(name, "HEAD") || !strcmp(name, "objects") || !strcmp(name, "commondir")) && is_in_old_git_dir(b, t->path);
}

static void track_git_dir(struct broker *b, const struct target *t) {
  struct stat dir;
  if (fstat(t->parent, &dir)) return;
  pthread_mutex_lock(&b->track_lock);
  if (!inode_set_has(b, &b->git_dirs, &dir)) {
    int copy = fcntl(t->parent, F_DUPFD_CLOEXEC, 0);
    if (copy < 0 || b->git_dirs.count >= MAX_GIT_DIRS) _exit(125);
    inode_set_add(b, &b->git_dirs, &dir);
    b->git_dir_fds[b->git_dirs.count - 1] = copy;
  }
  pthread_mutex_unlock(&b->track_lock);
}

/* After something was created or renamed to this name. */
void guard_note(struct broker *b, const struct target *t) {
  struct stat st;
  if (!(b->plan->flags & PLAN_GIT_GUARD) || t->parent < 0 || is_in_private_tmp(b, t->path)) return;
  /* Any of these may be what turns a directory into a git directory. */
  bool is_head = !strcmp(t->name, "HEAD") || !strcmp(t->name, "objects") || !strcmp(t->name, "refs") || !strcmp(t->name, "commondir");
  if (!is_head && !is_config_name(t->name) && strcmp(t->name, "commondir") && strcmp(t->name, ".git")) return;
  if (fstatat(t->parent, t->name, &st, AT_SYMLINK_NOFOLLOW)) return;
  struct stat dir;
  if (!strcmp(t->name, "HEAD") && !t->exists && !fstat(t->parent, &dir)) inode_set_add(b, &b->born_git_dirs, &dir);
  if (is_head || is_config_name(t->name)) track_git_dir(b, t);
  if (strcmp(t->name, "HEAD")) inode_set_add(b, &b->created_configs, &st);
}

/* The directories are held open, so a repository that was moved is reported where it is now. */
void guard_finish(struct broker *b) {
  for (size_t i = 0; i < b->git_dirs.count; i++) {
    char path[PATH_CAP], quoted[PATH_CAP * 6];
    canonical_path(b->git_dir_fds[i], path, sizeof path);
    report_json_string(quoted, sizeof quoted, path, strlen(path));
    report_line("{\"gitDir\":\"%s\"}", quoted);
  }
}
