/* The git guard. A file that makes git run programs later, outside, may be created by the run but not changed where it
   was there before; what the run created is looked at when it is over. It goes by what a directory is, not by its name. */
#define _GNU_SOURCE
#include "broker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct held_file *find_held(struct held_set *set, const struct stat *st) {
  for (size_t i = 0; i < set->count; i++)
    if (set->items[i].dev == st->st_dev && set->items[i].ino == st->st_ino) return &set->items[i];
  return NULL;
}

bool is_held(struct broker *b, struct held_set *set, const struct stat *st) {
  pthread_mutex_lock(&b->lock);
  bool found = find_held(set, st) != NULL;
  pthread_mutex_unlock(&b->lock);
  return found;
}

/* False when the set is full: then the file counts as one that was there before, which is the safe side. */
bool hold(struct broker *b, struct held_set *set, int at, const char *name, bool is_born) {
  struct stat st;
  /* A directory that is held already needs no lookup, which taking its rights away at the same time would make fail. */
  int fd = strcmp(name, ".") ? openat(at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC) : fcntl(at, F_DUPFD_CLOEXEC, 0);
  if (fd < 0 || fstat(fd, &st)) {
    if (fd >= 0) close(fd);
    return false;
  }
  pthread_mutex_lock(&b->lock);
  struct held_file *known = find_held(set, &st);
  bool fits = known || set->count < MAX_HELD;
  if (known) known->is_born |= is_born;
  else if (fits) set->items[set->count++] = (struct held_file){st.st_dev, st.st_ino, fd, is_born};
  pthread_mutex_unlock(&b->lock);
  if (known || !fits) close(fd);
  return fits;
}

/* ---- what a directory is ---- */

/* Anything but a clear "no" is a yes: a name that cannot be looked up must not open the guard. */
static bool has_entry(int dir, const char *name) {
  struct stat st;
  return !fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) || (errno != ENOENT && errno != ENOTDIR);
}

static bool is_repository(int dir) { return has_entry(dir, "HEAD") && (has_entry(dir, "objects") || has_entry(dir, "commondir")); }

/* What git asks of a directory that a `commondir` leads to. It needs no HEAD, and there configuration and hooks are read. */
static bool is_common_dir(int dir) { return has_entry(dir, "objects") && has_entry(dir, "refs"); }

/* The directory `levels` above the one that holds the target. By descriptor, since names may change meanwhile. */
static int open_above(const struct target *t, size_t levels) {
  char up[PATH_CAP] = ".", path[PATH_CAP];
  if (levels * 3 + 2 >= sizeof up) return -1;
  for (size_t i = 0; i < levels; i++) strcat(up, "/..");
  if (t->parent >= 0) return openat(t->parent, up, O_PATH | O_DIRECTORY | O_CLOEXEC);
  snprintf(path, sizeof path, "%s", t->path); /* reached by a descriptor link: only the path is known */
  for (size_t i = 0; i <= levels; i++) {
    char *slash = strrchr(path, '/');
    if (slash) *slash = 0;
  }
  return open(path[0] ? path : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static size_t count_slashes(const char *text) {
  size_t count = 0;
  for (; *text; text++) count += *text == '/';
  return count;
}

/* In `hooks` itself, and called as git calls hooks: a project may have directories `objects`, `refs` and `hooks` of its own. */
static bool is_hook_name(const char *below) { return !strchr(below, '.') && count_slashes(below) <= 1; }

/* `…/hooks` or `…/hooks/…` with a git directory above it, unless a grant names it. */
static bool is_hook(const struct broker *b, const struct target *t) {
  for (const char *at = t->path; (at = strstr(at, "/hooks")); at += 6) {
    if (at[6] != 0 && at[6] != '/') continue;
    if (is_named_for_writing(b, t->path, (size_t)(at + 6 - t->path))) continue;
    int dir = open_above(t, count_slashes(at + 1));
    bool is_guarded = dir < 0 || is_repository(dir) || (is_hook_name(at + 6) && is_common_dir(dir));
    if (dir >= 0) close(dir);
    if (is_guarded) return true;
  }
  return false;
}

static const char *last_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : "";
}

static bool is_guarded_place(struct broker *b, const char *path) {
  return (b->plan->flags & PLAN_GIT_GUARD) && path[0] == '/' && !is_in_private_tmp(b, path);
}

/* In a directory of this kind that was there before the run? */
static bool is_in_old(struct broker *b, const struct target *t, bool (*is_kind)(int)) {
  struct stat st;
  int dir = open_above(t, 0);
  if (dir < 0) return true;
  pthread_mutex_lock(&b->lock);
  struct held_file *known = fstat(dir, &st) ? NULL : find_held(&b->git_dirs, &st);
  bool is_born = known && known->is_born;
  pthread_mutex_unlock(&b->lock);
  bool is_old = !is_born && is_kind(dir);
  close(dir);
  return is_old;
}

static bool is_config_name(const char *name) { return !strcmp(name, "config") || !strcmp(name, "config.worktree"); }

/* What makes a directory a repository. */
static bool is_mark(const char *name) { return !strcmp(name, "HEAD") || !strcmp(name, "objects") || !strcmp(name, "commondir"); }

/* Does this new name make a git directory of one that was none? What is created at the same time by another call has its
   own note, so only `refs` may go by what is there: git makes it in old worktrees, too. */
static bool is_birth(int dir, const char *name) { return is_mark(name) || (!strcmp(name, "refs") && !is_repository(dir)); }

/* ---- what is refused ---- */

bool guard_refuses(struct broker *b, const struct target *t) {
  if (!is_guarded_place(b, t->path)) return false;
  if (is_hook(b, t)) return true;
  const char *name = last_name(t->path);
  /* Without room to remember another git directory, none is made. */
  if ((is_mark(name) || !strcmp(name, "refs")) && !t->exists && b->git_dirs.count >= MAX_HELD) return true;
  if (!strcmp(name, ".git") && !t->exists) return b->git_file_dirs.count >= MAX_HELD;
  if (!strcmp(name, ".git")) return !S_ISDIR(t->st.st_mode) && !is_held(b, &b->created_configs, &t->st);
  if (!is_config_name(name) && strcmp(name, "commondir")) return false;
  if (t->exists && is_held(b, &b->created_configs, &t->st)) return false;
  if (is_config_name(name) && is_named_for_writing(b, t->path, strlen(t->path))) return false;
  return is_in_old(b, t, is_repository) || is_in_old(b, t, is_common_dir);
}

/* What makes a directory a repository stays while the guard needs it to tell. It may be replaced, as git does. Of a common
   directory it may go, since the directory counts as born when it is there again. */
bool guard_refuses_removal(struct broker *b, const struct target *t) {
  return is_guarded_place(b, t->path) && is_mark(last_name(t->path)) && is_in_old(b, t, is_repository);
}

/* ---- what is remembered ---- */

static void quote_path(int fd, char quoted[PATH_CAP * 6]) {
  char path[PATH_CAP];
  canonical_path(fd, path, sizeof path);
  report_json_string(quoted, PATH_CAP * 6, path, strlen(path));
}

static void report_git_dir(int fd, bool is_born) {
  char quoted[PATH_CAP * 6];
  quote_path(fd, quoted);
  report_line("{\"gitDir\":\"%s\",\"born\":%s}", quoted, is_born ? "true" : "false");
}

static void report_git_file_dir(int fd) {
  char quoted[PATH_CAP * 6];
  quote_path(fd, quoted);
  report_line("{\"gitFileIn\":\"%s\"}", quoted);
}

/* A `.git` that is no directory leads git to another place, which may be an old one. */
static void note_git_file(struct broker *b, const struct target *t) {
  struct stat st;
  if (!fstatat(t->parent, t->name, &st, AT_SYMLINK_NOFOLLOW) && S_ISDIR(st.st_mode)) return;
  bool is_new = !fstat(t->parent, &st) && !is_held(b, &b->git_file_dirs, &st);
  if (hold(b, &b->git_file_dirs, t->parent, ".", false) && is_new) report_git_file_dir(t->parent);
}

/* After something was created or renamed to this name. Reported at once, so that no later failure loses it. */
void guard_note(struct broker *b, const struct target *t) {
  if (!(b->plan->flags & PLAN_GIT_GUARD) || t->parent < 0 || is_in_private_tmp(b, t->path)) return;
  bool is_config = is_config_name(t->name) || !strcmp(t->name, "commondir");
  if (is_config || !strcmp(t->name, ".git")) hold(b, &b->created_configs, t->parent, t->name, false);
  if (!strcmp(t->name, ".git")) note_git_file(b, t);
  if (!is_mark(t->name) && !is_config && strcmp(t->name, "refs")) return;
  struct stat st;
  bool is_new = !fstat(t->parent, &st) && !is_held(b, &b->git_dirs, &st), is_born = !t->exists && is_birth(t->parent, t->name);
  if (hold(b, &b->git_dirs, t->parent, ".", is_born) && (is_new || is_born)) report_git_dir(t->parent, is_born);
}

/* The directories are held open, so a repository that was moved is reported where it is now. */
void guard_finish(struct broker *b) {
  for (size_t i = 0; i < b->git_dirs.count; i++) report_git_dir(b->git_dirs.items[i].fd, b->git_dirs.items[i].is_born);
  for (size_t i = 0; i < b->git_file_dirs.count; i++) report_git_file_dir(b->git_file_dirs.items[i].fd);
}
