/* Where nothing can lead connections to a door, one is made at each address when the program first connects to it. */
#define _GNU_SOURCE
#include "assay.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAX_LAZY 1024 /* the program chooses how many it asks for */
#define BACKLOG 4096
#define IPV6_FREEBIND_ 78

struct place {
  uint8_t family, address[16];
  in_port_t port;
};

static struct place places[MAX_LAZY];
static size_t place_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The keeper gives up its capabilities before the first door is made. The setting is of this network only. */
int allow_low_ports(void) {
  int fd = open("/proc/sys/net/ipv4/ip_unprivileged_port_start", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return errno;
  int error = write(fd, "0", 1) == 1 ? 0 : errno;
  close(fd);
  return error;
}

static bool read_place(const struct sockaddr *any, socklen_t len, struct place *place) {
  memset(place, 0, sizeof *place);
  if (any->sa_family == AF_INET && len >= sizeof(struct sockaddr_in)) {
    const struct sockaddr_in *in = (const void *)any;
    *place = (struct place){.family = AF_INET, .port = in->sin_port};
    memcpy(place->address, &in->sin_addr, 4);
    return true;
  }
  if (any->sa_family != AF_INET6 || len < sizeof(struct sockaddr_in6)) return false;
  const struct sockaddr_in6 *in6 = (const void *)any;
  bool is_mapped = IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr);
  *place = (struct place){.family = is_mapped ? AF_INET : AF_INET6, .port = in6->sin6_port};
  memcpy(place->address, in6->sin6_addr.s6_addr + (is_mapped ? 12 : 0), is_mapped ? 4 : 16);
  return true;
}

static bool is_in_range(const struct place *place, const struct door_range *range) {
  unsigned port = ntohs(place->port);
  if (range->to && (port < range->from || port > range->to)) return false;
  unsigned whole = range->prefix / 8, rest = range->prefix % 8;
  if (place->family != range->family || memcmp(place->address, range->address, whole)) return false;
  return !rest || !((place->address[whole] ^ range->address[whole]) >> (8 - rest));
}

static bool is_loopback(const struct place *place) {
  return place->family == AF_INET ? place->address[0] == IN_LOOPBACKNET : !memcmp(place->address, &in6addr_loopback, 16);
}

static bool is_wanted(const struct plan *plan, const struct place *place) {
  bool is_door = false;
  for (size_t i = 0; i < plan->door_range_count && !is_door; i++) {
    const struct door_range *range = &plan->door_ranges[i];
    is_door = is_in_range(place, range) && (range->to || !is_loopback(place));
  }
  return is_door && place->port;
}

static int listen_at(const struct place *place) {
  union {
    struct sockaddr any;
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
  } a = {.in = {.sin_family = AF_INET, .sin_port = place->port}};
  if (place->family == AF_INET) memcpy(&a.in.sin_addr, place->address, 4);
  else {
    a.in6 = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = place->port};
    memcpy(&a.in6.sin6_addr, place->address, 16);
  }
  int sock = socket(place->family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), one = 1;
  /* A route makes an IPv6 address one's own to send to, not yet to bind to. */
  if (place->family == AF_INET6) setsockopt(sock, IPPROTO_IPV6, IPV6_FREEBIND_, &one, sizeof one);
  if (sock >= 0 && !bind(sock, &a.any, place->family == AF_INET ? sizeof a.in : sizeof a.in6) && !listen(sock, BACKLOG)) return sock;
  if (sock >= 0) close(sock);
  return -1;
}

/* False where a door belongs and there is none: a server of the program's own, on the same port of every address, would
   take the connection, and the record would have it as one to that host. */
bool make_lazy_door(const struct plan *plan, const struct sockaddr *address, socklen_t len) {
  struct place place;
  if (!read_place(address, len, &place) || !is_wanted(plan, &place)) return true;
  pthread_mutex_lock(&lock);
  bool is_there = false;
  for (size_t i = 0; i < place_count && !is_there; i++) is_there = !memcmp(&places[i], &place, sizeof place);
  int sock = is_there || place_count == MAX_LAZY ? -1 : listen_at(&place);
  if (sock >= 0 && !hand_door("lazy", SOCK_STREAM, sock)) places[place_count++] = place, is_there = true;
  if (sock >= 0) close(sock);
  pthread_mutex_unlock(&lock);
  return is_there;
}
