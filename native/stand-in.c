/* Where no copy can be had of a program's socket, the kernel cannot be left to do what was asked for either: number and address
   may mean another socket and another place by the time it looks. So a socket of the same kind does it, and takes the place
   of the program's. What was set on that before is lost, and its other descriptors are of the old one. */
#define _GNU_SOURCE
#include "broker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/xattr.h>
#include <unistd.h>

#define CONNECTED_MODE 0600

/* As the kernel's lists of sockets have it; 0 when it is in none. */
static unsigned state_in(const char *path, ino_t ino, bool is_unix) {
  FILE *file = fopen(path, "re");
  char line[512];
  unsigned state, found = 0;
  unsigned long long its;
  while (file && !found && fgets(line, sizeof line, file))
    if ((is_unix ? sscanf(line, "%*s %*s %*s %*s %*s %x %llu", &state, &its)
                 : sscanf(line, "%*d: %*s %*s %x %*s %*s %*s %*u %*u %llu", &state, &its)) == 2 && its == ino) found = state;
  if (file) fclose(file);
  return found;
}

/* The protocol, as the kernel calls it, and where sockets of it that are connected, are about to be or listen are listed. */
static const struct kind {
  const char *name, *list;
  int family, type;
} kinds[] = {
    {"UNIX-STREAM", "/proc/self/net/unix", AF_UNIX, SOCK_STREAM}, {"UNIX", "/proc/self/net/unix", AF_UNIX, SOCK_SEQPACKET},
    {"TCP", "/proc/self/net/tcp", AF_INET, SOCK_STREAM},          {"TCPv6", "/proc/self/net/tcp6", AF_INET6, SOCK_STREAM},
    {"UDP", NULL, AF_INET, SOCK_DGRAM},                           {"UDPv6", NULL, AF_INET6, SOCK_DGRAM},
    {"NETLINK", NULL, AF_NETLINK, SOCK_RAW},
};

/* What the kernel would say to one that is to be connected once more. Of a mode that sockets are not made with are those that
   we have connected: the lists are long. */
static int find_used(const struct kind *kind, const struct stat *st) {
  bool is_ours = (st->st_mode & 0777) == CONNECTED_MODE;
  unsigned state = is_ours && kind->list ? state_in(kind->list, st->st_ino, kind->family == AF_UNIX) : 0;
  if (kind->family == AF_UNIX) return state == 3 /* SS_CONNECTED */ ? -EISCONN : 0;
  return !state ? 0 : state == 2 /* TCP_SYN_SENT */ ? -EALREADY : -EISCONN;
}

static int stand_in_for(const struct request *r, int found) {
  char link[32], name[32] = "";
  struct stat st;
  int one = 1, flags = r->attempt->socket_flags = fetch_flags(r, (int)r->args[0], found);
  const struct kind *kind = kinds, *end = kinds + sizeof kinds / sizeof *kinds;
  if (flags & O_PATH || fstat(found, &st)) return -EBADF;
  if (!S_ISSOCK(st.st_mode)) return -ENOTSOCK;
  snprintf(link, sizeof link, "/proc/self/fd/%d", found);
  if (getxattr(link, "system.sockprotoname", name, sizeof name - 1) < 0) return -errno;
  while (kind < end && strcmp(kind->name, name)) kind++;
  if (kind == end) return -EACCES;
  r->attempt->socket_error = r->nr == SYS_connect ? find_used(kind, &st) : 0;
  /* Datagrams over unix sockets bear the same name, and are refused wherever anything is. */
  bool is_datagram = kind->type == SOCK_SEQPACKET && r->broker->plan->flags & PLAN_OBSERVE_ONLY;
  int type = is_datagram ? SOCK_DGRAM : kind->type;
  int sock = socket(kind->family, type | SOCK_CLOEXEC | (flags & O_NONBLOCK ? SOCK_NONBLOCK : 0), 0);
  /* Nearly every server asks for this, and would not start again without. */
  if (r->nr == SYS_bind && kind->type == SOCK_STREAM) setsockopt(sock, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  return sock < 0 ? -errno : sock;
}

/* The caller's socket that the call names, or one that can be put in its place. */
int fetch_socket(const struct request *r) {
  int found = fetch_descriptor(r, (int)r->args[0]);
  if (found < 0 || can_copy(r)) return found;
  int sock = stand_in_for(r, found);
  close(found);
  return sock;
}

void put_socket(const struct request *r, int sock) {
  if (!can_copy(r) && r->nr == SYS_connect) fchmod(sock, CONNECTED_MODE);
  if (!can_copy(r)) replace_descriptor(r, (int)r->args[0], sock, r->attempt->socket_flags & O_CLOEXEC);
}
