/* TCP of a run that has no network of its own. The kernel lets the program itself connect to nothing; the broker asks
   assay about its own copy of the address, and connects the program's socket to what assay names, or does not. */
#define _GNU_SOURCE
#include "judge.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- addresses ---- */

static int read_place(int sock, int domain, const union address *asked, socklen_t len, struct place *out) {
  memset(out, 0, sizeof *out);
  if (len < sizeof asked->any.sa_family) return -EINVAL;
  /* Whatever is no plain TCP, and taking a socket back to where it is not connected, is not needed here. */
  if (option_of(sock, SO_PROTOCOL) != IPPROTO_TCP || asked->any.sa_family == AF_UNSPEC) return -EACCES;
  if (len < (domain == AF_INET ? sizeof asked->in : offsetof(struct sockaddr_in6, sin6_scope_id))) return -EINVAL;
  if (asked->any.sa_family != domain) return -EAFNOSUPPORT;
  out->port = ntohs(asked->in.sin_port);
  if (domain == AF_INET || IN6_IS_ADDR_V4MAPPED(&asked->in6.sin6_addr)) {
    uint32_t loopback = htonl(INADDR_LOOPBACK), none = INADDR_ANY;
    out->family = 4;
    memcpy(out->address, domain == AF_INET ? (const void *)&asked->in.sin_addr : &asked->in6.sin6_addr.s6_addr[12], 4);
    if (!memcmp(out->address, &none, 4)) memcpy(out->address, &loopback, 4);
  } else {
    out->family = 6;
    memcpy(out->address, IN6_IS_ADDR_UNSPECIFIED(&asked->in6.sin6_addr) ? &in6addr_loopback : &asked->in6.sin6_addr, 16);
  }
  return 0;
}

/* In the family of the socket; 0 when it cannot be said there. */
static socklen_t write_address(int domain, const struct verdict *to, const union address *asked, union address *out) {
  memset(out, 0, sizeof *out);
  out->any.sa_family = (sa_family_t)domain;
  out->in.sin_port = htons(to->port);
  if (domain == AF_INET) {
    memcpy(&out->in.sin_addr, to->address, 4);
    return to->family == 4 ? sizeof out->in : 0;
  }
  if (to->family == 4) {
    out->in6.sin6_addr.s6_addr[10] = out->in6.sin6_addr.s6_addr[11] = 0xff;
    memcpy(&out->in6.sin6_addr.s6_addr[12], to->address, 4);
  } else {
    memcpy(&out->in6.sin6_addr, to->address, 16);
    /* Which of the links a link-local address is on. */
    if (!memcmp(&asked->in6.sin6_addr, to->address, 16)) out->in6.sin6_scope_id = asked->in6.sin6_scope_id;
  }
  return sizeof out->in6;
}

/* ---- connecting ---- */

/* The socket may be one that waits. Here nothing may, so it is begun as if it were not, and what is there at once, as
   on this machine, is seen by asking again. */
static int dial(int sock, const union address *to, socklen_t len) {
  int flags = fcntl(sock, F_GETFL);
  if (flags & O_NONBLOCK || is_in_own_thread()) return connect(sock, &to->any, len) ? -errno : 0;
  fcntl(sock, F_SETFL, flags | O_NONBLOCK);
  int error = connect(sock, &to->any, len) ? -errno : 0;
  if (error == -EINPROGRESS) error = connect(sock, &to->any, len) ? -errno : 0;
  fcntl(sock, F_SETFL, flags);
  return error == -EALREADY ? ELSEWHERE : error;
}

/* Others on this machine can knock at the same door: assay lets in who is announced by his port. */
static void announce(const struct request *r, int sock, const struct verdict *door) {
  union address own = {0};
  socklen_t len = sizeof own;
  struct question came = {.kind = CAME, .program = r->attempt->program, .port = door->port};
  if (getsockname(sock, &own.any, &len)) return;
  came.own_port = ntohs(own.in.sin_port);
  if (r->broker->plan->flags & PLAN_RECORD) record_socket(r->broker, came.program, door->endpoint, came.own_port);
  send_question(&came, is_in_own_thread());
}

/* Does it lead to this machine itself? A datagram socket is sent nowhere by connecting it, and has then the address that
   packets would come from: that of the other end, only where both are here. */
static bool leads_home(const union address *to, socklen_t len) {
  union address own = {0};
  socklen_t own_len = sizeof own;
  int sock = socket(to->any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (sock < 0) return true; /* not known */
  bool is_routed = !connect(sock, &to->any, len) && !getsockname(sock, &own.any, &own_len);
  close(sock);
  if (!is_routed) return false;
  return to->any.sa_family == AF_INET ? own.in.sin_addr.s_addr == to->in.sin_addr.s_addr
                                      : !memcmp(&own.in6.sin6_addr, &to->in6.sin6_addr, sizeof own.in6.sin6_addr);
}

static bool is_begun(int sock) {
  struct tcp_info info = {0};
  socklen_t len = sizeof info;
  return !getsockopt(sock, IPPROTO_TCP, TCP_INFO, &info, &len) && info.tcpi_state != TCP_CLOSE;
}

static int find_verdict(const struct request *r, int sock, const struct place *place, struct verdict *out) {
  uint32_t again = is_begun(sock) ? IS_AGAIN : 0;
  if (find_kept(r, place, !again, out)) return 0;
  return is_in_own_thread() ? ask(r, place, again, out) : ELSEWHERE;
}

bool is_judged(const struct broker *b, int domain) { return b->plan->flags & PLAN_BROKERED && (domain == AF_INET || domain == AF_INET6); }

int connect_judged(const struct request *r, int sock, int domain, const union address *asked, socklen_t len, char described[ADDRESS_CAP]) {
  struct place place;
  struct verdict verdict = {0};
  union address to;
  unsigned before = times_forgotten();
  int error = read_place(sock, domain, asked, len, &place);
  describe_address(sock, asked, len, described);
  if (error == -EACCES) refuse_address(r, "connect", described, NO_RULE);
  if (error) return error;
  error = find_verdict(r, sock, &place, &verdict);
  if (error) return error;
  if (verdict.endpoint[0]) snprintf(described, ADDRESS_CAP, "%s", verdict.endpoint);
  if (verdict.error == EACCES) refuse_address(r, "connect", described, NO_RULE);
  if (verdict.error) return -verdict.error;
  socklen_t to_len = write_address(domain, &verdict, asked, &to);
  if (!to_len) return -ENETUNREACH;
  if (!(verdict.flags & (IS_DOOR | MAY_BE_OWN)) && leads_home(&to, to_len)) {
    refuse_address(r, "connect", described, NO_RULE);
    return -EACCES;
  }
  if (!(verdict.flags & IS_DOOR) && !note_dialled(sock, &place)) return -EAGAIN;
  error = dial(sock, &to, to_len);
  /* Once more, now that the kernel knows of it as well. The verdict may have been taken back before that. */
  if (!(verdict.flags & IS_DOOR) && (!error || error == -EINPROGRESS || error == ELSEWHERE)) note_dialled(sock, &place);
  if (before != times_forgotten()) review_dialled();
  if (error == -EALREADY && r->attempt->is_begun) error = -EINPROGRESS; /* to the program it is the first time */
  r->attempt->is_begun = error == ELSEWHERE;
  if (verdict.flags & IS_DOOR && (!error || error == -EINPROGRESS)) announce(r, sock, &verdict);
  return error;
}
