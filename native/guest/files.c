/* Files below /workspace, and code below its own place, on behalf of the host. No link leads out of either. */
#define _GNU_SOURCE
#include "agent.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum op { OP_READ = 1, OP_WRITE, OP_MKDIR, OP_LIST, OP_STAT, OP_REMOVE, OP_RENAME, OP_LINK, OP_DIGEST, OP_SEAL };
enum place { IN_WORKSPACE, IN_CODE };
#define FLAG_BEGIN 0x80000000u /* make it, or empty it */

void file_digest(int fd, char out[65]);

struct request_of_files {
  uint32_t op, place, arg;
  uint64_t offset;
  char path[PATH_CAP], to[PATH_CAP];
  const unsigned char *data;
  size_t size;
};

static unsigned char reply[CHUNK * 2];

static int open_beneath(int top, const char *path, int flags, mode_t mode) {
  struct open_how how = {.flags = (uint64_t)(flags | O_CLOEXEC), .mode = mode, .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
  return (int)syscall(SYS_openat2, top, *path ? path : ".", &how, sizeof how);
}

/* The directory that holds the last part of the path, which is not followed. */
static int open_parent(int top, char *path, const char **name) {
  char *slash = strrchr(path, '/');
  *name = slash ? slash + 1 : path;
  if (!**name) {
    errno = EBUSY; /* the place itself */
    return -1;
  }
  if (!slash) return open_beneath(top, ".", O_PATH | O_DIRECTORY, 0);
  *slash = 0;
  return open_beneath(top, path, O_PATH | O_DIRECTORY, 0);
}

static uint32_t kind_of(const struct stat *about) { return S_ISREG(about->st_mode) ? 1 : S_ISDIR(about->st_mode) ? 2 : S_ISLNK(about->st_mode) ? 3 : 4; }

/* Only regular files: anything else could make the agent wait. */
static int open_regular(int top, const struct request_of_files *request, int flags, mode_t mode) {
  struct stat about;
  int fd = open_beneath(top, request->path, flags | O_NONBLOCK | O_NOCTTY, mode);
  if (fd < 0) return -1;
  if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode)) return fd;
  errno = S_ISDIR(about.st_mode) ? EISDIR : EINVAL;
  int error = errno;
  close(fd);
  errno = error;
  return -1;
}

static int read_part(uint32_t id, int top, const struct request_of_files *request) {
  int fd = open_regular(top, request, O_RDONLY, 0);
  if (fd < 0) return errno;
  size_t want = request->arg < sizeof reply ? request->arg : sizeof reply;
  ssize_t got = pread(fd, reply, want, (off_t)request->offset);
  int error = errno;
  close(fd);
  if (got < 0) return error;
  send_done(id, 0, reply, (size_t)got);
  return 0;
}

static int write_part(int top, const struct request_of_files *request) {
  bool is_first = request->arg & FLAG_BEGIN;
  mode_t mode = request->arg & 0777;
  uid_t owner = request->place == IN_CODE ? 0 : CODE_UID;
  int fd = open_regular(top, request, O_WRONLY | (is_first ? O_CREAT : 0), mode);
  if (fd < 0) return errno;
  int error = is_first && (ftruncate(fd, 0) || fchown(fd, owner, owner) || fchmod(fd, mode)) ? errno : 0;
  for (size_t done = 0; !error && done < request->size;) {
    ssize_t put = pwrite(fd, request->data + done, request->size - done, (off_t)(request->offset + done));
    if (put < 0) error = errno;
    else done += (size_t)put;
  }
  close(fd);
  return error;
}

/* Every directory of the path that is missing. */
static int make_directories(int top, const struct request_of_files *request) {
  char path[PATH_CAP];
  snprintf(path, sizeof path, "%s", request->path);
  int at = open_beneath(top, ".", O_PATH | O_DIRECTORY, 0);
  char *rest = path;
  for (char *part; at >= 0 && (part = strsep(&rest, "/"));) {
    if (!*part) continue;
    if (mkdirat(at, part, 0755) == 0) {
      if (fchownat(at, part, CODE_UID, CODE_GID, AT_SYMLINK_NOFOLLOW)) die("owner of a directory");
    } else if (errno != EEXIST) {
      int error = errno;
      close(at);
      return error;
    }
    close(at);
    if (rest) rest[-1] = 0;
    /* From the top again, so that a link among the parts cannot lead out. */
    at = open_beneath(top, path, O_PATH | O_DIRECTORY, 0);
    int error = errno;
    if (rest) rest[-1] = '/';
    errno = error;
  }
  if (at < 0) return errno;
  close(at);
  return 0;
}

static size_t put_entry(unsigned char *out, size_t room, const char *name, const struct stat *about) {
  uint32_t words[2] = {kind_of(about), (uint32_t)strlen(name)};
  uint64_t numbers[3] = {(uint64_t)about->st_size, (uint64_t)about->st_ino, (uint64_t)about->st_ctim.tv_sec * 1000000000 + (uint64_t)about->st_ctim.tv_nsec};
  size_t size = sizeof words + sizeof numbers + words[1];
  if (size > room) return 0;
  memcpy(out, words, sizeof words);
  memcpy(out + sizeof words, numbers, sizeof numbers);
  memcpy(out + sizeof words + sizeof numbers, name, words[1]);
  return size;
}

/* As many names as fit, from the one with the number `offset` on; none when there are no more. */
static int list_part(uint32_t id, int top, const struct request_of_files *request) {
  int fd = open_beneath(top, request->path, O_RDONLY | O_DIRECTORY, 0);
  DIR *directory = fd < 0 ? NULL : fdopendir(fd);
  if (!directory) return errno;
  size_t used = 0, number = 0;
  for (struct dirent *entry; (entry = readdir(directory));) {
    struct stat about;
    if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") || number++ < request->offset) continue;
    if (fstatat(fd, entry->d_name, &about, AT_SYMLINK_NOFOLLOW)) continue; /* gone since */
    size_t size = put_entry(reply + used, sizeof reply - used, entry->d_name, &about);
    if (!size) break;
    used += size;
  }
  closedir(directory);
  send_done(id, 0, reply, used);
  return 0;
}

static int tell(uint32_t id, int top, const struct request_of_files *request) {
  struct stat about;
  int fd = open_beneath(top, request->path, O_PATH, 0);
  if (fd < 0) return errno;
  int error = fstat(fd, &about) ? errno : 0;
  close(fd);
  if (error) return error;
  send_done(id, 0, reply, put_entry(reply, sizeof reply, "", &about));
  return 0;
}

static int remove_at(int parent, const char *name, int depth) {
  if (unlinkat(parent, name, 0) == 0) return 0;
  if (errno != EISDIR) return errno;
  int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  /* Deeper than descriptors last: whoever nests so deep has to take it down from inside. */
  DIR *directory = fd < 0 || depth > 2000 ? NULL : fdopendir(fd);
  if (!directory) {
    int error = fd < 0 ? errno : ELOOP;
    if (fd >= 0) close(fd);
    return error;
  }
  int error = 0;
  for (struct dirent *entry; !error && (entry = readdir(directory));)
    if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..")) error = remove_at(fd, entry->d_name, depth + 1);
  closedir(directory);
  if (error) return error;
  return unlinkat(parent, name, AT_REMOVEDIR) ? errno : 0;
}

static int change_names(int top, struct request_of_files *request) {
  const char *name, *new_name = NULL;
  int parent = -1, to = -1;
  if (request->op != OP_LINK && (parent = open_parent(top, request->path, &name)) < 0) return errno;
  if (request->op != OP_REMOVE && (to = open_parent(top, request->op == OP_LINK ? request->path : request->to, &new_name)) < 0) {
    int error = errno;
    if (parent >= 0) close(parent);
    return error;
  }
  int error = 0;
  if (request->op == OP_REMOVE) error = remove_at(parent, name, 0);
  else if (request->op == OP_RENAME) error = renameat(parent, name, to, new_name) ? errno : 0;
  else if (symlinkat(request->to, to, new_name) || fchownat(to, new_name, CODE_UID, CODE_GID, AT_SYMLINK_NOFOLLOW)) error = errno;
  if (parent >= 0) close(parent);
  if (to >= 0) close(to);
  return error;
}

static int digest(uint32_t id, int top, const struct request_of_files *request) {
  char hex[65];
  int fd = open_regular(top, request, O_RDONLY, 0);
  if (fd < 0) return errno;
  file_digest(fd, hex);
  close(fd);
  if (!*hex) return EIO;
  send_done(id, 0, hex, 64);
  return 0;
}

static int seal(void) { return mount(NULL, WORKSPACE, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV, NULL) ? errno : 0; }

static bool take_path(struct reader *payload, char out[PATH_CAP]) {
  uint32_t size = take32(payload);
  const unsigned char *bytes = size < PATH_CAP ? take_bytes(payload, size) : NULL;
  if (!bytes || memchr(bytes, 0, size)) return false;
  memcpy(out, bytes, size);
  out[size] = 0;
  return true;
}

/* An answer that has data is on its way already where 0 is returned. */
static int perform(uint32_t id, int top, struct request_of_files *request, bool *has_answered) {
  *has_answered = request->op == OP_READ || request->op == OP_LIST || request->op == OP_STAT || request->op == OP_DIGEST;
  switch (request->op) {
  case OP_READ: return read_part(id, top, request);
  case OP_WRITE: return write_part(top, request);
  case OP_MKDIR: return make_directories(top, request);
  case OP_LIST: return list_part(id, top, request);
  case OP_STAT: return tell(id, top, request);
  case OP_REMOVE:
  case OP_RENAME:
  case OP_LINK: return change_names(top, request);
  case OP_DIGEST: return digest(id, top, request);
  case OP_SEAL: return seal();
  default: return EINVAL;
  }
}

void serve_files(uint32_t id, struct reader *payload, const struct box *box) {
  static struct request_of_files request;
  bool has_answered = false;
  request.op = take32(payload);
  request.place = take32(payload);
  request.arg = take32(payload);
  request.offset = take64(payload);
  bool is_good = take_path(payload, request.path) && take_path(payload, request.to);
  request.data = payload->at;
  request.size = payload->left;
  if (!is_good || payload->is_bad || !box->is_ready || request.place > IN_CODE) return send_done(id, EINVAL, NULL, 0);
  int top = open(request.place == IN_CODE ? CODE : WORKSPACE, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (top < 0) die("files");
  int error = perform(id, top, &request, &has_answered);
  close(top);
  if (error || !has_answered) send_done(id, error, NULL, 0);
}
