#define _GNU_SOURCE
#include "steward.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

static void handle(const struct frame *f) {
  switch (f->type) {
  case DO_START: return start_call(f);
  case DO_STDIN:
  case DO_STDIN_END: return feed_call(f);
  case DO_SIGNAL: return signal_call(f);
  case DO_KILL: return kill_call(f->channel);
  case DO_KILL_ALL: return kill_everything();
  case DO_FILTER: return keep_filter(f);
  case DO_LISTEN: return listen_door(f);
  case DO_DOOR_DATA:
  case DO_DOOR_END:
  case DO_DOOR_RESET:
  case DO_DOOR_WINDOW: return feed_door(f);
  default: return do_files(f);
  }
}

int main(int argc, char **argv) {
  /* The same program, since it is there: not inside of a container, but before one is made. */
  if (argc == 6 && strcmp(argv[1], "map") == 0) return map_directory(argv + 2);
  if (argc == 3 && strcmp(argv[1], "unmap") == 0) return unmap_directory(argv[2]);
  /* It ends everything that it can reach: that is a container, or nothing. */
  if (getpid() != 1) {
    errno = EPERM;
    die("not the first process of a container");
  }
  /* Programs have the same user: nothing of this process is theirs to trace or to open. */
  if (prctl(PR_SET_DUMPABLE, 0)) die("dumpable");
  umask(022);
  /* Blocked and read, not handled: signals without a handler do nothing to the first process of a namespace. */
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  sigaddset(&set, SIGPIPE);
  if (sigprocmask(SIG_BLOCK, &set, NULL)) die("signals");
  sigdelset(&set, SIGPIPE);
  int children = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (children < 0) die("signalfd");
  say_hello();
  for (;;) {
    struct pollfd fds[2 + 4 * MAX_CALLS + 1 + MAX_DOORS];
    fds[0] = (struct pollfd){.fd = STDIN_FILENO, .events = POLLIN};
    fds[1] = (struct pollfd){.fd = children, .events = POLLIN};
    size_t calls = poll_calls(fds + 2), doors = poll_doors(fds + 2 + calls);
    if (poll(fds, 2 + calls + doors, -1) < 0) {
      if (errno == EINTR) continue;
      die("poll");
    }
    if (fds[1].revents) {
      struct signalfd_siginfo info;
      while (read(children, &info, sizeof info) > 0) continue;
      reap();
    }
    serve_calls(fds + 2, calls);
    serve_doors(fds + 2 + calls, doors);
    if (fds[0].revents && !read_frames(handle)) break;
  }
  kill_everything();
  return 0;
}
