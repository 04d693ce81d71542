/* What would be sent without a connection, and sockets of kinds that are refused: nothing of it gets out, since there is no
   way or no such socket, and the record has it all the same. */
#define _GNU_SOURCE
#include "sockets.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MAX_MESSAGES 1024 /* of one call; the kernel takes no more */

static bool is_internet(const union address *address) { return address->any.sa_family == AF_INET || address->any.sa_family == AF_INET6; }

static bool is_own_loopback(const union address *to) {
  if (to->any.sa_family == AF_INET) return ntohl(to->in.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
  const struct in6_addr *address = &to->in6.sin6_addr;
  return IN6_IS_ADDR_LOOPBACK(address) || (IN6_IS_ADDR_V4MAPPED(address) && address->s6_addr[12] == IN_LOOPBACKNET);
}

/* How sending there ends, without sending: the broker is in the same network. An address that has a way and is not of
   loopback is a door's, and doors take no datagrams. */
static int foresee(const struct broker *b, const union address *to, socklen_t len) {
  int sock = socket(to->any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (sock < 0) return errno;
  int error = connect(sock, &to->any, len) ? errno : 0;
  close(sock);
  bool is_private = b->plan->flags & PLAN_DOORS && !(b->plan->flags & PLAN_BROKERED);
  return !error && is_private && !is_own_loopback(to) ? ECONNREFUSED : error;
}

static void note_send(const struct request *r, int sock, const union address *to, socklen_t len) {
  char described[ADDRESS_CAP];
  describe_address(sock, to, len, described);
  int error = foresee(r->broker, to, len);
  bool is_ours = error == EACCES || is_beyond(r->broker, error);
  record_fact(r, (struct fact){.op = "connect",
                               .path = described,
                               .error = error,
                               .basis = FACT_OBSERVED,
                               .rule = is_ours ? NO_RULE : 0,
                               .flags = error == ENETUNREACH && is_ours ? FACT_KERNEL : 0});
}

static void look_at(const struct request *r, int *sock, uint64_t address, int len) {
  union address to = {0};
  if (!address || len < (int)sizeof to.in || len > (int)sizeof to.bytes || fetch_bytes(r, address, &to, (size_t)len)) return;
  if (!is_internet(&to) && to.any.sa_family != AF_UNSPEC) return;
  if (*sock < 0) *sock = fetch_socket(r);
  if (*sock < 0 || !is_still_waiting(r) || option_of(*sock, SO_TYPE) == SOCK_STREAM) return;
  settle_family(*sock, &to);
  if (is_internet(&to) && (to.any.sa_family == AF_INET || len >= (int)sizeof to.in6)) note_send(r, *sock, &to, (socklen_t)len);
}

/* False where there is none: the kernel sends those before it all the same. Of a name that is too long it takes what fits. */
static bool look_at_message(const struct request *r, int *sock, uint64_t address) {
  struct msghdr message;
  if (fetch_bytes(r, address, &message, sizeof message)) return false;
  int len = (int)message.msg_namelen, most = sizeof(union address);
  look_at(r, sock, (uint64_t)(uintptr_t)message.msg_name, len > most ? most : len);
  return true;
}

/* Only looked at, and then left to the kernel: whatever is written over the address meanwhile, no datagram gets out. */
void watch_send(const struct request *r) {
  int sock = -1;
  if (r->nr == SYS_sendto) look_at(r, &sock, r->args[4], (int)r->args[5]);
  else if (r->nr == SYS_sendmsg) look_at_message(r, &sock, r->args[1]);
  else {
    uint32_t count = (uint32_t)r->args[2] < MAX_MESSAGES ? (uint32_t)r->args[2] : MAX_MESSAGES;
    for (uint32_t i = 0; i < count && look_at_message(r, &sock, r->args[1] + i * sizeof(struct mmsghdr)); i++) {
    }
  }
  if (sock >= 0) close(sock);
  answer_continue(r);
}

static const char *name_kind(int family, int type, int protocol, char other[16]) {
  bool is_inet = family == AF_INET || family == AF_INET6;
  if (is_inet && (protocol == IPPROTO_ICMP || protocol == IPPROTO_ICMPV6)) return "icmp:*";
  if (is_inet && type == SOCK_RAW) return "raw:*";
  if (is_inet && protocol == 262) return "mptcp:*";
  if (family == AF_PACKET || (family == AF_INET && type == SOCK_PACKET)) return "packet:*";
  if (family == 40) return "vsock:*";
  if (is_inet) return type == SOCK_STREAM ? "tcp:*" : type == SOCK_DGRAM ? "udp:*" : "inet:*";
  snprintf(other, 16, "af%d:*", family);
  return other;
}

/* As src/plan/seccomp/socket-rules.ts has it for runs that are not recorded, and as the kernel for who has no privilege. */
static int refusal_of_kind(const struct request *r, int family, int type, int protocol) {
  bool is_brokered = r->broker->plan->flags & PLAN_BROKERED, is_plain = protocol == 0 || protocol == IPPROTO_TCP;
  if (family != AF_INET && family != AF_INET6) return EAFNOSUPPORT;
  if (type == SOCK_STREAM) return is_plain ? EACCES : EPROTONOSUPPORT;
  if (is_brokered || type == SOCK_DGRAM) return EACCES;
  return type == SOCK_RAW ? EPERM : EAFNOSUPPORT;
}

/* The filter hands over those only that are refused; and those for pings, which a machine may let its users
   send, as long as its network is the program's. */
void refuse_socket(const struct request *r) {
  char other[16];
  int family = (int)r->args[0], type = (int)r->args[1] & 0xf, protocol = (int)r->args[2];
  bool is_ping = type == SOCK_DGRAM && (protocol == IPPROTO_ICMP || protocol == IPPROTO_ICMPV6);
  if (is_ping && !(r->broker->plan->namespaces & NS_NET) && !(r->broker->plan->flags & (PLAN_BROKERED | PLAN_OFF_NETWORK))) {
    record_fact(r, (struct fact){.op = "connect", .path = "icmp:*", .error = -1, .basis = FACT_OBSERVED});
    answer_continue(r);
    return;
  }
  int error = refusal_of_kind(r, family, type, protocol);
  record_fact(r, (struct fact){.op = "connect", .path = name_kind(family, type, protocol, other), .error = error, .rule = NO_RULE});
  answer(r, 0, -error);
}
