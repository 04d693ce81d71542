/* A process that forks holders, in the cgroups that assay has put it into: what is born there need not be moved, which
   takes the kernel long. It knows nothing of the sandboxes that it forks. */
#define _GNU_SOURCE
#include "serve.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

void fork_holder(struct holder_start start, const int *to_close, size_t count) {
  pid_t pid = (pid_t)syscall(SYS_clone, CLONE_NEWNS | SIGCHLD, 0, 0, 0, 0);
  if (pid) return; /* one that could not be started is seen by the end of its connection */
  for (size_t i = 0; i < count; i++) close(to_close[i]);
  run_holder(start);
}

_Noreturn void run_forker(int control, int work, int opener) {
  pid_t pid = getpid();
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (send(control, &pid, sizeof pid, MSG_NOSIGNAL) != sizeof pid) _exit(0);
  for (;;) {
    struct pollfd fds[2] = {{control, POLLIN, 0}, {work, POLLIN, 0}};
    if (poll(fds, 2, -1) < 0) continue;
    if (fds[0].revents) _exit(0); /* assay has no more use for it */
    uint32_t doors;
    int connection = -1;
    if (receive_descriptor(work, &doors, sizeof doors, &connection) <= 0) _exit(0);
    if (connection < 0) continue;
    fork_holder((struct holder_start){connection, opener, doors}, (const int[]){control, work}, 2);
    close(connection);
  }
}
