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
#define MAX_SCRIPT (64u << 20)

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

/* ---- the process that sees the host's files ---- */

/* Each question brings the socket that its answer goes to: a mount, or an error. */
static _Noreturn void run_opener(int questions) {
  char path[PATH_CAP];
  for (;;) {
    int back = -1;
    ssize_t len = receive_descriptor(questions, path, sizeof path - 1, &back);
    if (len <= 0) _exit(0); /* nobody is left to ask */
    path[len] = 0;
    int fd = (int)syscall(SYS_open_tree, AT_FDCWD, path, OPEN_TREE_CLONE_ | OPEN_TREE_CLOEXEC_ | AT_RECURSIVE_);
    int error = fd < 0 ? errno : 0;
    send_descriptor(back, &error, sizeof error, fd, 0);
    if (fd >= 0) close(fd);
    close(back);
  }
}

/* A mount of what is at `path` of the host, or -1 with errno. */
int ask_for_mount(int opener, const char *path) {
  int pair[2], error = EIO, fd = -1;
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) return -1;
  send_descriptor(opener, path, strlen(path), pair[1], 0);
  close(pair[1]);
  receive_descriptor(pair[0], &error, sizeof error, &fd);
  close(pair[0]);
  errno = error;
  return fd;
}

/* ---- sandboxes ---- */

struct server {
  int sandboxes, opener;
  int forkers[MAX_FORKERS]; /* by number; what is sent there is forked there */
};

static int listen_at(const char *directory, const char *name) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if ((size_t)snprintf(address.sun_path, sizeof address.sun_path, "%s/%s", directory, name) >= sizeof address.sun_path)
    die("serve", "name of the socket is too long");
  int sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (sock < 0 || bind(sock, (struct sockaddr *)&address, sizeof address) || listen(sock, 512)) die_errno("serve", address.sun_path);
  return sock;
}

/* Sent with the connection, unless assay is busy with something else; and then it has nothing else to ask for. */
static bool read_first(int fd, void *into, size_t len) {
  struct timeval patience = {.tv_sec = 60};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  bool is_whole = recv(fd, into, len, MSG_WAITALL) == (ssize_t)len;
  patience.tv_sec = 0;
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  return is_whole;
}

/* All that is the server's own, which nobody that it forks has any use for. */
static size_t list_own(const struct server *s, int *list) {
  size_t count = 0;
  list[count++] = ASSAY_FD;
  list[count++] = s->sandboxes;
  for (size_t i = 0; i < MAX_FORKERS; i++)
    if (s->forkers[i] >= 0) list[count++] = s->forkers[i];
  return count;
}

static void start_sandbox(struct server *s, const struct greeting *greeting, int connection) {
  int own[2 + MAX_FORKERS];
  if (greeting->forker) {
    int forker = greeting->forker < MAX_FORKERS ? s->forkers[greeting->forker] : -1;
    if (forker >= 0) send_descriptor(forker, &greeting->doors, sizeof greeting->doors, connection, 0);
  } else fork_holder((struct holder_start){connection, s->opener, greeting->doors}, own, list_own(s, own));
}

/* One of the same number has ended, or is about to. */
static void start_forker(struct server *s, uint32_t number, int connection) {
  int pair[2], own[2 + MAX_FORKERS];
  if (!number || number >= MAX_FORKERS || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) return;
  if (s->forkers[number] >= 0) close(s->forkers[number]);
  s->forkers[number] = pair[0];
  pid_t pid = fork();
  if (!pid) {
    for (size_t i = 0, count = list_own(s, own); i < count; i++) close(own[i]);
    run_forker(connection, pair[1], s->opener);
  }
  close(pair[1]);
}

static void take_connection(struct server *s) {
  struct greeting greeting;
  int connection = accept4(s->sandboxes, NULL, NULL, SOCK_CLOEXEC);
  if (connection < 0) return;
  if (read_first(connection, &greeting, sizeof greeting)) {
    if (greeting.kind == GREET_SANDBOX) start_sandbox(s, &greeting, connection);
    if (greeting.kind == GREET_FORKER) start_forker(s, greeting.forker, connection);
  }
  close(connection); /* what could not be started is seen by that */
}

static _Noreturn void serve(struct server *s) {
  for (;;) {
    struct pollfd fds[3] = {{ASSAY_FD, POLLIN, 0}, {s->sandboxes, POLLIN, 0}, {DOORS_FD, POLLIN, 0}};
    if (poll(fds, 3, -1) < 0) continue;
    char byte;
    if (fds[0].revents && read(ASSAY_FD, &byte, 1) <= 0) _exit(0);
    if (fds[2].revents && !drop_answers()) _exit(0);
    if (fds[1].revents) take_connection(s);
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
    close(DOORS_FD);
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
  signal(SIGINT, SIG_IGN), signal(SIGHUP, SIG_IGN), signal(SIGQUIT, SIG_IGN); /* of a terminal: assay decides */
  signal(SIGCHLD, SIG_IGN); /* nobody waits for holders */
  syscall(SYS_close_range, (unsigned)DOORS_FD + 1, ~0u, 0u);
  fcntl(ASSAY_FD, F_SETFD, FD_CLOEXEC);
  fcntl(DOORS_FD, F_SETFD, FD_CLOEXEC);
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  struct script script = read_script();
  /* Before the host is left: AppArmor knows no path of what was bound in another view of the files. */
  s.sandboxes = listen_at(script.sockets, "sandboxes");
  leave_host(&script);
  for (size_t i = 0; i < MAX_FORKERS; i++) s.forkers[i] = -1;
  s.opener = start_opener();
  if (unshare(CLONE_NEWNS)) die_errno("mount", "unshare"); /* the tree is none of the opener's */
  build_tree(&script);
  report_line("{\"ready\":true}");
  serve(&s);
}
