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

#define MAX_PASSED 2

void send_descriptors(int sock, const void *bytes, size_t len, const int *fds, size_t count) {
  char control[CMSG_SPACE(MAX_PASSED * sizeof(int))] = {0};
  struct iovec io = {(void *)bytes, len};
  struct msghdr message = {.msg_iov = &io, .msg_iovlen = 1};
  if (count) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(count * sizeof(int));
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(count * sizeof(int));
    memcpy(CMSG_DATA(header), fds, count * sizeof(int));
  }
  if (sendmsg(sock, &message, MSG_NOSIGNAL) < 0) { /* whoever waits for it sees the end */
  }
}

/* How many bytes; descriptors that did not come stay as they are. */
ssize_t receive_descriptors(int sock, void *bytes, size_t cap, int *fds, size_t count) {
  char control[CMSG_SPACE(MAX_PASSED * sizeof(int))];
  struct iovec io = {bytes, cap};
  struct msghdr message = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  ssize_t len = recvmsg(sock, &message, MSG_CMSG_CLOEXEC);
  struct cmsghdr *header = len > 0 ? CMSG_FIRSTHDR(&message) : NULL;
  if (!header || header->cmsg_type != SCM_RIGHTS) return len;
  size_t came = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
  memcpy(fds, CMSG_DATA(header), (came < count ? came : count) * sizeof(int));
  return len;
}

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
    char byte;
    int passed[2] = {-1, -1};
    if (receive_descriptors(work, &byte, 1, passed, 2) <= 0) _exit(0);
    if (passed[0] < 0) continue;
    fork_holder((struct holder_start){passed[0], opener, passed[1]}, (const int[]){control, work}, 2);
    close(passed[0]);
    if (passed[1] >= 0) close(passed[1]);
  }
}
