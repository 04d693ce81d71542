/* The resident helper. It holds a small tree of files, which every sandbox starts from, and forks one holder a sandbox.
   A second process stays where all of the host's files are, to open those that a sandbox is to see. Both end with assay. */
#define _GNU_SOURCE
#include "serve.h"
#include "uapi.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define ASSAY_FD 3 /* its end is the end of assay */
#define TREE "/tmp"
#define MAX_WAITING 64
#define TOKEN_BYTES 8
#define MAX_SCRIPT (64u << 20)

/* ---- the tree that sandboxes start from ---- */

enum step_kind { STEP_DIRECTORY = 'd', STEP_LINK = 'l', STEP_BIND = 'b', STEP_FILE = 'f' };

/* One step: its path inside, and where it leads, what it shows, or what it says. */
struct step {
  uint32_t kind, flags, path_len, data_len;
};

struct script {
  uint32_t uid, gid;
  char *steps;
  size_t len;
  const char *sockets; /* a directory, for the sockets that assay connects to */
};

static void read_whole(int fd, void *into, size_t len) {
  for (size_t done = 0; done < len;) {
    ssize_t got = read(fd, (char *)into + done, len - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) _exit(0); /* assay is gone */
    done += (size_t)got;
  }
}

/* uid, gid, length of the directory's name, length of the steps; then both. */
static struct script read_script(void) {
  uint32_t head[4];
  read_whole(ASSAY_FD, head, sizeof head);
  if (head[2] > PATH_CAP || head[3] > MAX_SCRIPT) die("serve", "script is too long");
  char *bytes = malloc((size_t)head[2] + head[3] + 2);
  if (!bytes) die("serve", "out of memory");
  read_whole(ASSAY_FD, bytes, head[2]);
  bytes[head[2]] = 0;
  char *steps = bytes + head[2] + 1;
  read_whole(ASSAY_FD, steps, head[3]);
  return (struct script){.uid = head[0], .gid = head[1], .steps = steps, .len = head[3], .sockets = bytes};
}

struct parsed {
  struct step head;
  char path[PATH_CAP];
  const char *data;
};

static const char *take_step(const char *at, const char *end, struct parsed *out) {
  if ((size_t)(end - at) < sizeof out->head) die("serve", "step is too short");
  memcpy(&out->head, at, sizeof out->head);
  at += sizeof out->head;
  if (out->head.path_len + sizeof TREE > sizeof out->path || (size_t)(end - at) < (size_t)out->head.path_len + out->head.data_len)
    die("serve", "step is too long");
  snprintf(out->path, sizeof out->path, TREE "%.*s", (int)out->head.path_len, at);
  out->data = at + out->head.path_len;
  return out->data + out->head.data_len;
}

static char *copy_data(const struct parsed *step) {
  char *text = strndup(step->data, step->head.data_len);
  if (!text) die("serve", "out of memory");
  return text;
}

static int open_source(const struct parsed *step) {
  char *source = copy_data(step);
  int fd = (int)syscall(SYS_open_tree, AT_FDCWD, source, OPEN_TREE_CLONE_ | OPEN_TREE_CLOEXEC_ | AT_RECURSIVE_);
  struct mount_attr_abi attr = {.attr_set = step->head.flags};
  if (fd < 0 || (attr.attr_set && syscall(SYS_mount_setattr, fd, "", AT_EMPTY_PATH | AT_RECURSIVE_, &attr, sizeof attr)))
    die_errno("serve", source);
  free(source);
  return fd;
}

static void write_text(const struct parsed *step) {
  int fd = open(step->path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
  if (fd < 0 || fchmod(fd, 0644) || write(fd, step->data, step->head.data_len) != (ssize_t)step->head.data_len)
    die_errno("serve", step->path);
  close(fd);
}

static void place_source(const struct parsed *step, int fd) {
  struct stat st;
  if (fstat(fd, &st)) die_errno("serve", step->path);
  if (S_ISDIR(st.st_mode) ? mkdir(step->path, 0755) && errno != EEXIST : mknod(step->path, S_IFREG | 0644, 0) && errno != EEXIST)
    die_errno("serve", step->path);
  if (syscall(SYS_move_mount, fd, "", AT_FDCWD, step->path, MOVE_MOUNT_F_EMPTY_PATH_)) die_errno("serve", step->path);
  close(fd);
}

static void perform_step(const struct parsed *step, int fd) {
  if (step->head.kind == STEP_DIRECTORY) {
    if (mkdir(step->path, 0755) || chmod(step->path, step->head.flags)) die_errno("serve", step->path);
  } else if (step->head.kind == STEP_LINK) {
    char *target = copy_data(step);
    if (symlink(target, step->path)) die_errno("serve", step->path);
    free(target);
  } else if (step->head.kind == STEP_BIND) place_source(step, fd);
  else if (step->head.kind == STEP_FILE) write_text(step);
  else die("serve", "unknown step");
}

/* Sources are opened before the tree covers any of them. */
static void build_tree(const struct script *script) {
  const char *end = script->steps + script->len;
  struct parsed step;
  int sources[256], count = 0, used = 0;
  for (const char *at = script->steps; at < end;) {
    at = take_step(at, end, &step);
    if (step.head.kind != STEP_BIND) continue;
    if (count == 256) die("serve", "too many places are shown");
    sources[count++] = open_source(&step);
  }
  if (mount("assay", TREE, "tmpfs", MS_NOSUID, "size=64m,nr_inodes=65536,mode=0755")) die_errno("mount", TREE);
  umask(0);
  for (const char *at = script->steps; at < end;) {
    at = take_step(at, end, &step);
    perform_step(&step, step.head.kind == STEP_BIND ? sources[used++] : -1);
  }
  umask(077);
  struct mount_attr_abi attr = {.attr_set = MOUNT_ATTR_RDONLY_ | MOUNT_ATTR_NOSUID_};
  if (syscall(SYS_mount_setattr, AT_FDCWD, TREE, 0, &attr, sizeof attr)) die_errno("mount", TREE);
  if (chdir(TREE) || syscall(SYS_pivot_root, ".", ".") || umount2(".", MNT_DETACH) || chdir("/")) die_errno("mount", "root");
}

/* ---- the process that sees the host's files ---- */

static int receive_with_descriptor(int sock, char *text, size_t cap) {
  char control[CMSG_SPACE(sizeof(int))];
  struct iovec io = {text, cap - 1};
  struct msghdr message = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  ssize_t len = recvmsg(sock, &message, MSG_CMSG_CLOEXEC);
  if (len <= 0) return -1;
  text[len] = 0;
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  int fd = -1;
  if (header && header->cmsg_type == SCM_RIGHTS) memcpy(&fd, CMSG_DATA(header), sizeof fd);
  return fd;
}

static void send_with_descriptor(int sock, const char *text, size_t len, int fd) {
  char control[CMSG_SPACE(sizeof(int))] = {0};
  struct iovec io = {(void *)text, len};
  struct msghdr message = {.msg_iov = &io, .msg_iovlen = 1};
  if (fd >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &fd, sizeof fd);
  }
  sendmsg(sock, &message, MSG_NOSIGNAL);
}

/* Each question brings the socket that its answer goes to: a mount, or an error. */
static _Noreturn void run_opener(int questions) {
  char path[PATH_CAP];
  for (;;) {
    int back = receive_with_descriptor(questions, path, sizeof path);
    if (back < 0) _exit(0); /* nobody is left to ask */
    int fd = (int)syscall(SYS_open_tree, AT_FDCWD, path, OPEN_TREE_CLONE_ | OPEN_TREE_CLOEXEC_ | AT_RECURSIVE_);
    int error = fd < 0 ? errno : 0;
    send_with_descriptor(back, (const char *)&error, sizeof error, fd);
    if (fd >= 0) close(fd);
    close(back);
  }
}

/* A mount of what is at `path` of the host, or -1 with errno. */
int ask_for_mount(int opener, const char *path) {
  int pair[2], error = EIO;
  char text[sizeof error + 1];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) return -1;
  send_with_descriptor(opener, path, strlen(path), pair[1]);
  close(pair[1]);
  int fd = receive_with_descriptor(pair[0], text, sizeof text);
  close(pair[0]);
  if (fd < 0) memcpy(&error, text, sizeof error), errno = error;
  return fd;
}

/* ---- sandboxes ---- */

struct waiting {
  char token[TOKEN_BYTES];
  int fd;
};

struct server {
  int plain, networked, channels, opener;
  struct waiting waiting[MAX_WAITING];
};

static int listen_at(const char *directory, const char *name) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if ((size_t)snprintf(address.sun_path, sizeof address.sun_path, "%s/%s", directory, name) >= sizeof address.sun_path)
    die("serve", "name of the socket is too long");
  int sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (sock < 0 || bind(sock, (struct sockaddr *)&address, sizeof address) || listen(sock, 512)) die_errno("serve", address.sun_path);
  return sock;
}

static bool read_token(int fd, char token[TOKEN_BYTES]) {
  struct timeval patience = {.tv_sec = 2};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  bool is_whole = recv(fd, token, TOKEN_BYTES, MSG_WAITALL) == TOKEN_BYTES;
  patience.tv_sec = 0;
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  return is_whole;
}

/* The channel by which the doors of a sandbox are handed over comes before its connection does. */
static void take_channel(struct server *s) {
  struct waiting one = {.fd = accept4(s->channels, NULL, NULL, SOCK_CLOEXEC)};
  if (one.fd < 0) return;
  if (read_token(one.fd, one.token))
    for (size_t i = 0; i < MAX_WAITING; i++)
      if (s->waiting[i].fd < 0) {
        s->waiting[i] = one;
        return;
      }
  close(one.fd);
}

static int find_channel(struct server *s, int connection) {
  char token[TOKEN_BYTES];
  if (!read_token(connection, token)) return -1;
  for (struct pollfd more = {s->channels, POLLIN, 0}; poll(&more, 1, 0) > 0;) take_channel(s);
  for (size_t i = 0; i < MAX_WAITING; i++)
    if (s->waiting[i].fd >= 0 && !memcmp(s->waiting[i].token, token, TOKEN_BYTES)) {
      int fd = s->waiting[i].fd;
      s->waiting[i].fd = -1;
      return fd;
    }
  return -1;
}

static void start_holder(struct server *s, int connection, int doors) {
  pid_t pid = (pid_t)syscall(SYS_clone, CLONE_NEWNS | SIGCHLD, 0, 0, 0, 0);
  if (!pid) {
    close(s->plain);
    close(s->networked);
    close(s->channels);
    close(ASSAY_FD);
    for (size_t i = 0; i < MAX_WAITING; i++)
      if (s->waiting[i].fd >= 0) close(s->waiting[i].fd);
    run_holder((struct holder_start){connection, s->opener, doors});
  }
  close(connection); /* a holder that could not be started is seen by that */
  if (doors >= 0) close(doors);
}

static _Noreturn void serve(struct server *s) {
  for (;;) {
    struct pollfd fds[4] = {{ASSAY_FD, POLLIN, 0}, {s->plain, POLLIN, 0}, {s->networked, POLLIN, 0}, {s->channels, POLLIN, 0}};
    if (poll(fds, 4, -1) < 0) continue;
    char byte;
    if (fds[0].revents && read(ASSAY_FD, &byte, 1) <= 0) _exit(0);
    if (fds[3].revents) take_channel(s);
    for (int i = 1; i < 3; i++) {
      int connection = fds[i].revents ? accept4(i == 1 ? s->plain : s->networked, NULL, NULL, SOCK_CLOEXEC) : -1;
      if (connection < 0) continue;
      int doors = i == 2 ? find_channel(s, connection) : -1;
      if (i == 2 && doors < 0) close(connection);
      else start_holder(s, connection, doors);
    }
  }
}

/* The namespaces that hold the tree; an ordinary user gets the right to make one from a user namespace. */
static void leave_host(const struct script *script) {
  char map[64];
  bool is_root = geteuid() == 0;
  if (unshare(CLONE_NEWNS | (is_root ? 0 : CLONE_NEWUSER))) die_errno(is_root ? "mount" : "user", "unshare");
  if (!is_root) {
    const char *const files[3] = {"/proc/self/setgroups", "/proc/self/uid_map", "/proc/self/gid_map"};
    for (int i = 0; i < 3; i++) {
      int len = i ? snprintf(map, sizeof map, "%u %u 1", i == 1 ? script->uid : script->gid, i == 1 ? script->uid : script->gid)
                  : snprintf(map, sizeof map, "deny");
      int fd = open(files[i], O_WRONLY | O_CLOEXEC);
      if (fd < 0 || write(fd, map, (size_t)len) != len) die_errno("user", files[i]);
      close(fd);
    }
  }
  if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL)) die_errno("mount", "/");
}

static int start_opener(void) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) die_errno("serve", "socketpair");
  pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  if (pid < 0) die_errno("serve", "fork");
  if (!pid) {
    close(pair[0]);
    close(ASSAY_FD);
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    run_opener(pair[1]);
  }
  close(pair[1]);
  return pair[0];
}

/* What assay sends first is the tree, and what it hears first is that it stands, or why it does not. */
int run_serve(void) {
  struct server s;
  signal(SIGPIPE, SIG_IGN);
  for (int sig = 1; sig < 32; sig++)
    if (sig == SIGINT || sig == SIGHUP || sig == SIGQUIT) signal(sig, SIG_IGN); /* of a terminal: assay decides */
  signal(SIGCHLD, SIG_IGN); /* nobody waits for holders */
  syscall(SYS_close_range, (unsigned)ASSAY_FD + 1, ~0u, 0u);
  fcntl(ASSAY_FD, F_SETFD, FD_CLOEXEC);
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  struct script script = read_script();
  leave_host(&script);
  for (size_t i = 0; i < MAX_WAITING; i++) s.waiting[i].fd = -1;
  s.plain = listen_at(script.sockets, "plain");
  s.networked = listen_at(script.sockets, "networked");
  s.channels = listen_at(script.sockets, "channels");
  s.opener = start_opener();
  if (unshare(CLONE_NEWNS)) die_errno("mount", "unshare"); /* the tree is none of the opener's */
  build_tree(&script);
  report_line("{\"ready\":true}");
  serve(&s);
}
