/* The doors to the network, opened inside the private network namespace while the keeper may still do that, and handed
   to assay, which serves them from outside. What runs inside has no capability to undo any of it. */
#define _GNU_SOURCE
#include "assay.h"
#include "netlink.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG 4096
#define PROXY_PORT 3128
#define TRANSPARENT_PORT 3129
#define DNS_PORT 53
#define OWN_ADDRESS 0xc613fffe /* 198.19.255.254 */
#define TABLE "assay"
#define CHAIN "doors"
#define BEFORE_ROUTING (-150) /* the priority called mangle */
#ifndef IPV6_TRANSPARENT
#define IPV6_TRANSPARENT 75
#endif

union door_address {
  struct sockaddr any;
  struct sockaddr_in in;
  struct sockaddr_in6 in6;
};

uint32_t door_sandbox, door_call;

static _Noreturn void fail(const char *what, int error) {
  errno = error;
  die_errno("doors", what);
}

static int open_netlink(int protocol) {
  int sock = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);
  struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
  if (sock >= 0 && connect(sock, (struct sockaddr *)&kernel, sizeof kernel)) close(sock), sock = -1;
  return sock;
}

/* ---- routes: every address of a range is one of this machine's own ---- */

static int add_route(int sock, const struct door_range *range, unsigned loopback) {
  struct message_buffer b = {.len = 0};
  struct rtmsg route = {.rtm_family = range->family, .rtm_dst_len = range->prefix, .rtm_table = RT_TABLE_LOCAL,
                        .rtm_protocol = RTPROT_STATIC, .rtm_scope = RT_SCOPE_HOST, .rtm_type = RTN_LOCAL};
  begin_message(&b, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE | NLM_F_ACK, &route, sizeof route);
  if (range->prefix) put_attribute(&b, RTA_DST, range->address, range->family == AF_INET ? 4 : 16);
  put_u32(&b, RTA_OIF, loopback);
  end_message(&b);
  return exchange(sock, &b);
}

/* An address besides loopback. Without one the C library finds no IPv4 for programs that ask for addresses of the kind that
   the machine has (AI_ADDRCONFIG). It is of the range for names, and stands for none. */
static int add_address(int sock, unsigned loopback) {
  struct message_buffer b = {.len = 0};
  struct ifaddrmsg head = {.ifa_family = AF_INET, .ifa_prefixlen = 32, .ifa_scope = RT_SCOPE_HOST, .ifa_index = loopback};
  struct in_addr address = {.s_addr = htonl(OWN_ADDRESS)};
  begin_message(&b, RTM_NEWADDR, NLM_F_CREATE | NLM_F_REPLACE | NLM_F_ACK, &head, sizeof head);
  put_attribute(&b, IFA_LOCAL, &address, sizeof address);
  end_message(&b);
  return exchange(sock, &b);
}

static void add_routes(const struct plan *plan) {
  unsigned loopback = if_nametoindex("lo");
  int sock = open_netlink(NETLINK_ROUTE);
  if (sock < 0) fail("routes", errno);
  for (size_t i = 0; i < plan->door_range_count; i++) {
    const struct door_range *range = &plan->door_ranges[i];
    if (range->to) continue; /* of loopback, which is there */
    int error = add_route(sock, range, loopback);
    if (error) fail(range->family == AF_INET ? "routes" : "ipv6 routes", error);
  }
  int error = add_address(sock, loopback);
  if (error) fail("address", error);
  close(sock);
}

/* ---- nf_tables: TCP to any of those addresses comes out at the transparent door ---- */

static void put_data(struct message_buffer *b, uint16_t type, const void *data, size_t len) {
  size_t nest = begin_nest(b, type);
  put_attribute(b, NFTA_DATA_VALUE, data, len);
  end_nest(b, nest);
}

struct expression {
  size_t element, data;
};

static struct expression begin_expression(struct message_buffer *b, const char *name) {
  struct expression e = {.element = begin_nest(b, NFTA_LIST_ELEM)};
  put_text(b, NFTA_EXPR_NAME, name);
  e.data = begin_nest(b, NFTA_EXPR_DATA);
  return e;
}

static void end_expression(struct message_buffer *b, struct expression e) {
  end_nest(b, e.data);
  end_nest(b, e.element);
}

static void put_comparison(struct message_buffer *b, uint32_t how, const void *data, size_t len) {
  struct expression e = begin_expression(b, "cmp");
  put_be32(b, NFTA_CMP_SREG, NFT_REG_1);
  put_be32(b, NFTA_CMP_OP, how);
  put_data(b, NFTA_CMP_DATA, data, len);
  end_expression(b, e);
}

static void match_meta(struct message_buffer *b, uint32_t key, uint8_t value) {
  struct expression e = begin_expression(b, "meta");
  put_be32(b, NFTA_META_DREG, NFT_REG_1);
  put_be32(b, NFTA_META_KEY, key);
  end_expression(b, e);
  put_comparison(b, NFT_CMP_EQ, &value, sizeof value);
}

static void load_packet(struct message_buffer *b, uint32_t base, uint32_t offset, uint32_t len) {
  struct expression e = begin_expression(b, "payload");
  put_be32(b, NFTA_PAYLOAD_DREG, NFT_REG_1);
  put_be32(b, NFTA_PAYLOAD_BASE, base);
  put_be32(b, NFTA_PAYLOAD_OFFSET, offset);
  put_be32(b, NFTA_PAYLOAD_LEN, len);
  end_expression(b, e);
}

/* By its first bytes, or that they are others. */
static void match_destination(struct message_buffer *b, bool is_ipv6, uint32_t how, const void *data, uint32_t len) {
  load_packet(b, NFT_PAYLOAD_NETWORK_HEADER, is_ipv6 ? 24 : 16, len);
  put_comparison(b, how, data, len);
}

static void match_ports(struct message_buffer *b, const struct door_range *range) {
  uint16_t from = htons(range->from), to = htons(range->to);
  load_packet(b, NFT_PAYLOAD_TRANSPORT_HEADER, 2, sizeof from);
  put_comparison(b, NFT_CMP_GTE, &from, sizeof from);
  put_comparison(b, NFT_CMP_LTE, &to, sizeof to);
}

static void put_immediate(struct message_buffer *b, uint32_t into, const void *data, size_t len) {
  struct expression e = begin_expression(b, "immediate");
  put_be32(b, NFTA_IMMEDIATE_DREG, into);
  put_data(b, NFTA_IMMEDIATE_DATA, data, len);
  end_expression(b, e);
}

static void lead_to_door(struct message_buffer *b, bool is_ipv6) {
  uint32_t family = is_ipv6 ? NFPROTO_IPV6 : NFPROTO_IPV4, loopback = htonl(INADDR_LOOPBACK);
  const void *address = is_ipv6 ? (const void *)&in6addr_loopback : &loopback;
  size_t len = is_ipv6 ? sizeof in6addr_loopback : sizeof loopback;
  uint16_t port = htons(TRANSPARENT_PORT);
  put_immediate(b, NFT_REG_1, address, len);
  put_immediate(b, NFT_REG_2, &port, sizeof port);
  struct expression e = begin_expression(b, "tproxy");
  put_be32(b, NFTA_TPROXY_FAMILY, family);
  put_be32(b, NFTA_TPROXY_REG_ADDR, NFT_REG_1);
  put_be32(b, NFTA_TPROXY_REG_PORT, NFT_REG_2);
  end_expression(b, e);
}

static void begin_nft(struct message_buffer *b, uint16_t type, uint16_t flags) {
  struct nfgenmsg header = {.nfgen_family = NFPROTO_INET, .version = NFNETLINK_V0};
  begin_message(b, (uint16_t)(NFNL_SUBSYS_NFTABLES << 8 | type), flags, &header, sizeof header);
}

static void put_batch_mark(struct message_buffer *b, uint16_t type) {
  struct nfgenmsg header = {.nfgen_family = AF_UNSPEC, .version = NFNETLINK_V0, .res_id = htons(NFNL_SUBSYS_NFTABLES)};
  begin_message(b, type, 0, &header, sizeof header);
  end_message(b);
}

static void put_chain(struct message_buffer *b) {
  begin_nft(b, NFT_MSG_NEWTABLE, NLM_F_CREATE);
  put_text(b, NFTA_TABLE_NAME, TABLE);
  end_message(b);
  begin_nft(b, NFT_MSG_NEWCHAIN, NLM_F_CREATE);
  put_text(b, NFTA_CHAIN_TABLE, TABLE);
  put_text(b, NFTA_CHAIN_NAME, CHAIN);
  size_t hook = begin_nest(b, NFTA_CHAIN_HOOK);
  put_be32(b, NFTA_HOOK_HOOKNUM, NF_INET_PRE_ROUTING);
  put_be32(b, NFTA_HOOK_PRIORITY, (uint32_t)BEFORE_ROUTING);
  end_nest(b, hook);
  put_text(b, NFTA_CHAIN_TYPE, "filter");
  end_message(b);
}

/* Without `ports` no range is named: an address without a route is not reached at all, and what has one is a door or
   loopback, which is not led away; with them those ports of it are. A packet of a connection that is there already finds
   its socket first. */
static void put_rule(struct message_buffer *b, bool is_ipv6, const struct door_range *ports, bool is_last) {
  uint8_t loopback_net = IN_LOOPBACKNET;
  begin_nft(b, NFT_MSG_NEWRULE, NLM_F_CREATE | NLM_F_APPEND | (is_last ? NLM_F_ACK : 0));
  put_text(b, NFTA_RULE_TABLE, TABLE);
  put_text(b, NFTA_RULE_CHAIN, CHAIN);
  size_t list = begin_nest(b, NFTA_RULE_EXPRESSIONS);
  match_meta(b, NFT_META_NFPROTO, is_ipv6 ? NFPROTO_IPV6 : NFPROTO_IPV4);
  match_meta(b, NFT_META_L4PROTO, IPPROTO_TCP);
  if (ports) {
    match_destination(b, is_ipv6, NFT_CMP_EQ, ports->address, ports->prefix / 8);
    match_ports(b, ports);
  } else if (is_ipv6) match_destination(b, true, NFT_CMP_NEQ, &in6addr_loopback, sizeof in6addr_loopback);
  else match_destination(b, false, NFT_CMP_NEQ, &loopback_net, sizeof loopback_net);
  lead_to_door(b, is_ipv6);
  end_nest(b, list);
  end_message(b);
}

static int lead_connections(const struct plan *plan, bool has_ipv6) {
  struct message_buffer b = {.len = 0};
  int sock = open_netlink(NETLINK_NETFILTER);
  if (sock < 0) return errno;
  put_batch_mark(&b, NFNL_MSG_BATCH_BEGIN);
  put_chain(&b);
  for (size_t i = 0; plan && i < plan->door_range_count; i++)
    if (plan->door_ranges[i].to) put_rule(&b, plan->door_ranges[i].family == AF_INET6, &plan->door_ranges[i], false);
  if (has_ipv6) put_rule(&b, true, NULL, false);
  put_rule(&b, false, NULL, true);
  put_batch_mark(&b, NFNL_MSG_BATCH_END);
  int error = exchange(sock, &b);
  close(sock);
  return error;
}

/* ---- sockets ---- */

static int allow_transparent(int sock, bool is_ipv6) {
  int one = 1;
  return is_ipv6 ? setsockopt(sock, IPPROTO_IPV6, IPV6_TRANSPARENT, &one, sizeof one)
                 : setsockopt(sock, IPPROTO_IP, IP_TRANSPARENT, &one, sizeof one);
}

struct door {
  const char *name;
  int type;
  uint32_t address;
  uint16_t port;
  bool is_transparent, is_ipv6;
};

static int open_door(const struct door *door) {
  union door_address a = {.in = {.sin_family = AF_INET, .sin_port = htons(door->port), .sin_addr.s_addr = htonl(door->address)}};
  socklen_t len = sizeof a.in;
  if (door->is_ipv6) {
    a.in6 = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = htons(door->port), .sin6_addr = in6addr_loopback};
    len = sizeof a.in6;
  }
  int sock = socket(a.any.sa_family, door->type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), one = 1;
  const char *what = door->is_ipv6 ? "ipv6 door" : door->name;
  if (sock < 0) fail(what, errno);
  if (door->is_ipv6) setsockopt(sock, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one);
  if (door->is_transparent && allow_transparent(sock, door->is_ipv6)) fail(what, errno);
  if (bind(sock, &a.any, len)) fail(what, errno);
  if (door->type == SOCK_STREAM && listen(sock, BACKLOG)) fail(what, errno);
  return sock;
}

/* As node's own processes hand over a socket; one that it gets so is served like one that it opened. */
int hand_door(const char *name, int type, int sock) {
  char text[160];
  int len = snprintf(text, sizeof text, "{\"cmd\":\"NODE_HANDLE\",\"type\":\"%s\",\"msg\":{\"door\":\"%s\",\"sandbox\":%u,\"call\":%u}}\n",
                     type == SOCK_STREAM ? "net.Native" : "dgram.Native", name, door_sandbox, door_call);
  return send_descriptor(DOORS_FD, text, (size_t)len, sock, MSG_DONTWAIT) == len ? 0 : errno;
}

/* Node answers each door that it gets; an answer that nobody reads would take up room in the end. False at the end. */
bool drop_answers(void) {
  char answers[4096];
  ssize_t got = recv(DOORS_FD, answers, sizeof answers, MSG_DONTWAIT);
  return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

void open_doors(const struct plan *plan) {
  const struct door doors[] = {
      {"proxy", SOCK_STREAM, INADDR_LOOPBACK, PROXY_PORT, false, false},
      {"dns", SOCK_DGRAM, 0x7f000035, DNS_PORT, false, false},
      {"dnsTcp", SOCK_STREAM, 0x7f000035, DNS_PORT, false, false},
      {"transparent", SOCK_STREAM, INADDR_LOOPBACK, TRANSPARENT_PORT, true, false},
      {"transparent6", SOCK_STREAM, 0, TRANSPARENT_PORT, true, true},
  };
  int socks[sizeof doors / sizeof *doors];
  bool is_transparent = plan->flags & PLAN_TRANSPARENT, has_ipv6 = false;
  size_t count = 0;
  for (size_t i = 0; i < plan->door_range_count; i++) has_ipv6 |= plan->door_ranges[i].family == AF_INET6;
  if (is_transparent || plan->flags & PLAN_LAZY_DOORS) add_routes(plan);
  int error = is_transparent ? lead_connections(plan, has_ipv6) : 0;
  if (error) fail("nft", error);
  error = plan->flags & PLAN_LAZY_DOORS ? allow_low_ports() : 0;
  if (error) fail("lazy", error);
  for (; count < sizeof doors / sizeof *doors; count++) {
    if (doors[count].is_transparent && (!is_transparent || (doors[count].is_ipv6 && !has_ipv6))) break;
    socks[count] = open_door(&doors[count]);
  }
  /* Nothing is handed over before everything is there: what fails is tried again with another plan. */
  for (size_t i = 0; i < count; i++) {
    error = hand_door(doors[i].name, doors[i].type, socks[i]);
    if (error) fail("hand over", error);
    close(socks[i]);
  }
  if (!(plan->flags & PLAN_LAZY_DOORS)) close(DOORS_FD);
}

/* The same in a namespace of the probe's own: 0, or the errno of what does not work. */
int probe_doors(void) {
  struct door_range range = {.family = AF_INET, .prefix = 15, .address = {198, 18}};
  int sock = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), routes = open_netlink(NETLINK_ROUTE);
  if (sock < 0 || routes < 0 || allow_transparent(sock, false)) return errno;
  bring_up_loopback();
  int error = add_route(routes, &range, if_nametoindex("lo"));
  return error ? error : lead_connections(NULL, false);
}
