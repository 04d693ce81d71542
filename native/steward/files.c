/* Files below the workspace, for assay: as the user that programs have, without following a link out of it. */
#define _GNU_SOURCE
#include "steward.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_WRITES 64

/* Files that are being written to; a failure is kept until the end, since data is under way already. */
static struct writing {
  int is_used, fd, error;
  uint32_t channel;
} writings[MAX_WRITES];

/* A path, ended by a 0, from where it starts in the payload. */
static const char *get_path(const struct frame *f, size_t at) {
  return at < f->len && memchr(f->data + at, 0, f->len - at) ? (const char *)f->data + at : NULL;
}

/* Never waits: what is no regular file is refused, and a pipe without an other end does not hold anybody up. */
static int open_regular(const struct place *place, int flags, mode_t mode, struct stat *st) {
  int fd = openat(place->parent, place->name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, mode);
  if (fd < 0) return -errno;
  int error = fstat(fd, st) ? errno : S_ISREG(st->st_mode) ? 0 : S_ISDIR(st->st_mode) ? EISDIR : EINVAL;
  if (!error) return fd;
  close(fd);
  return -error;
}

static int do_read(uint32_t channel, const struct place *place, uint64_t max) {
  static unsigned char bytes[CHUNK];
  struct stat st;
  int fd = open_regular(place, O_RDONLY, 0, &st);
  if (fd < 0) return -fd;
  int error = 0;
  for (uint64_t sent = 0; sent < max;) {
    size_t wanted = max - sent < sizeof bytes ? (size_t)(max - sent) : sizeof bytes;
    ssize_t n = read(fd, bytes, wanted);
    if (n < 0) error = errno;
    if (n <= 0) break;
    send_frame(SAY_DATA, channel, bytes, (size_t)n);
    sent += (uint64_t)n;
  }
  close(fd);
  return error;
}

static int do_digest(uint32_t channel, const struct place *place) {
  char digest[65];
  struct stat st;
  int fd = open_regular(place, O_RDONLY, 0, &st);
  if (fd < 0) return -fd;
  file_digest(fd, digest);
  close(fd);
  if (!digest[0]) return EIO;
  send_frame(SAY_DATA, channel, digest, 64);
  return 0;
}

static int do_readdir(uint32_t channel, const struct place *place) {
  int fd = openat(place->parent, place->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  DIR *dir = fd < 0 ? NULL : fdopendir(fd);
  if (!dir) {
    int error = errno;
    if (fd >= 0) close(fd);
    return error;
  }
  for (struct dirent *entry; (entry = readdir(dir));) {
    struct stat st;
    char name[NAME_MAX + 2];
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    int is_directory = fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
    int len = snprintf(name, sizeof name, "%s%s", entry->d_name, is_directory ? "/" : "");
    send_frame(SAY_DATA, channel, name, (size_t)len + 1);
  }
  closedir(dir);
  return 0;
}

static int do_stat(uint32_t channel, const struct place *place) {
  struct stat st;
  if (fstatat(place->parent, place->name, &st, AT_SYMLINK_NOFOLLOW)) return errno;
  unsigned char payload[9];
  payload[0] = S_ISREG(st.st_mode) ? 'f' : S_ISDIR(st.st_mode) ? 'd' : 'o';
  put_u64(payload + 1, (uint64_t)st.st_size);
  send_frame(SAY_DATA, channel, payload, sizeof payload);
  return 0;
}

static int do_rename(const struct place *from, const char *path) {
  struct place to;
  int error = path ? find_place(path, 0, &to) : EINVAL;
  if (error) return error;
  error = renameat(from->parent, from->name, to.parent, to.name) ? errno : 0;
  close(to.parent);
  return error;
}

static struct writing *find_writing(uint32_t channel) {
  for (size_t i = 0; i < MAX_WRITES; i++)
    if (writings[i].is_used && writings[i].channel == channel) return &writings[i];
  return NULL;
}

static void begin_write(const struct frame *f) {
  const char *path = get_path(f, 4);
  struct writing *writing = NULL;
  for (size_t i = 0; i < MAX_WRITES && !writing; i++)
    if (!writings[i].is_used) writing = &writings[i];
  if (!writing || !path) return send_error(f->channel, writing ? EINVAL : EMFILE);
  struct place place;
  struct stat st;
  mode_t mode = get_u32(f->data) & 0777;
  int error = find_place(path, 1, &place), fd = -1;
  if (!error) {
    fd = open_regular(&place, O_WRONLY | O_CREAT | O_TRUNC, mode, &st);
    close(place.parent);
    if (fd < 0) error = -fd;
  }
  *writing = (struct writing){.is_used = 1, .fd = fd, .error = error, .channel = f->channel};
}

static void go_on_writing(const struct frame *f) {
  struct writing *writing = find_writing(f->channel);
  if (!writing) return;
  for (size_t at = 0; at < f->len && !writing->error;) {
    ssize_t n = write(writing->fd, f->data + at, f->len - at);
    if (n < 0) writing->error = errno;
    else at += (size_t)n;
  }
  if (f->type != DO_WRITE_END) return;
  if (writing->fd >= 0 && close(writing->fd) && !writing->error) writing->error = errno;
  writing->is_used = 0;
  if (writing->error) send_error(f->channel, writing->error);
  else send_ok(f->channel);
}

static void do_measure(uint32_t channel) {
  uint64_t bytes, files;
  unsigned char payload[16];
  measure_workspace(&bytes, &files);
  put_u64(payload, bytes);
  put_u64(payload + 8, files);
  send_frame(SAY_DATA, channel, payload, sizeof payload);
  send_ok(channel);
}

static int do_at(const struct frame *f, const struct place *place) {
  const char *second = get_path(f, 12 + strlen((const char *)f->data + 12) + 1);
  switch (f->type) {
  case DO_READ: return do_read(f->channel, place, get_u64(f->data));
  case DO_DIGEST: return do_digest(f->channel, place);
  case DO_READDIR: return do_readdir(f->channel, place);
  case DO_STAT: return do_stat(f->channel, place);
  case DO_MKDIR: return mkdirat(place->parent, place->name, get_u32(f->data + 8) & 0777) ? errno : 0;
  case DO_RM: return remove_tree(place->parent, place->name);
  case DO_RENAME: return do_rename(place, second);
  case DO_SYMLINK: return !second ? EINVAL : symlinkat(second, place->parent, place->name) ? errno : 0;
  default: return ENOSYS;
  }
}

/* A number, a mode, a path and for some a second one. */
void do_files(const struct frame *f) {
  if (f->type == DO_WRITE) return begin_write(f);
  if (f->type == DO_WRITE_DATA || f->type == DO_WRITE_END) return go_on_writing(f);
  if (f->type == DO_TREE) return send_tree(f->channel);
  if (f->type == DO_MEASURE) return do_measure(f->channel);
  const char *path = get_path(f, 12);
  struct place place;
  int follows = f->type == DO_READ || f->type == DO_DIGEST || f->type == DO_READDIR || f->type == DO_STAT;
  int error = path ? find_place(path, follows, &place) : EINVAL;
  if (!error) {
    error = do_at(f, &place);
    close(place.parent);
  }
  if (error) send_error(f->channel, error);
  else send_ok(f->channel);
}
