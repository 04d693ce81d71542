/* Descriptors that go from one process to another over a unix socket. */
#define _GNU_SOURCE
#include "assay.h"

#include <string.h>
#include <sys/socket.h>

/* `fd` is -1 for none. */
ssize_t send_descriptor(int sock, const void *bytes, size_t len, int fd, int flags) {
  char control[CMSG_SPACE(sizeof(int))] = {0};
  struct iovec io = {(void *)bytes, len};
  struct msghdr message = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  *header = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int))};
  memcpy(CMSG_DATA(header), &fd, sizeof fd);
  if (fd < 0) message.msg_controllen = 0;
  return sendmsg(sock, &message, MSG_NOSIGNAL | flags);
}

/* How many bytes; a descriptor that did not come stays as it is. */
ssize_t receive_descriptor(int sock, void *bytes, size_t cap, int *fd) {
  char control[CMSG_SPACE(sizeof(int))];
  struct iovec io = {bytes, cap};
  struct msghdr message = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  ssize_t len = recvmsg(sock, &message, MSG_CMSG_CLOEXEC);
  struct cmsghdr *header = len > 0 ? CMSG_FIRSTHDR(&message) : NULL;
  if (header && header->cmsg_type == SCM_RIGHTS) memcpy(fd, CMSG_DATA(header), sizeof *fd);
  return len;
}
