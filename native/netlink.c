#define _GNU_SOURCE
#include "netlink.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>

static size_t aligned(size_t len) { return (len + 3) & ~(size_t)3; }

/* What does not fit is not written: the length then passes the end, and `exchange` refuses it. */
static void put(struct message_buffer *b, const void *data, size_t len) {
  if (b->len + aligned(len) <= sizeof b->bytes) {
    memset(b->bytes + b->len, 0, aligned(len));
    if (len) memcpy(b->bytes + b->len, data, len);
  }
  b->len += aligned(len);
}

void begin_message(struct message_buffer *b, uint16_t type, uint16_t flags, const void *header, size_t header_len) {
  struct nlmsghdr start = {.nlmsg_type = type, .nlmsg_flags = NLM_F_REQUEST | flags};
  b->message = b->len;
  put(b, &start, sizeof start);
  put(b, header, header_len);
}

void end_message(struct message_buffer *b) {
  uint32_t len = (uint32_t)(b->len - b->message);
  if (b->len <= sizeof b->bytes) memcpy(b->bytes + b->message, &len, sizeof len);
}

void put_attribute(struct message_buffer *b, uint16_t type, const void *data, size_t len) {
  struct nlattr attribute = {.nla_len = (uint16_t)(sizeof attribute + len), .nla_type = type};
  put(b, &attribute, sizeof attribute);
  put(b, data, len);
}

void put_text(struct message_buffer *b, uint16_t type, const char *text) { put_attribute(b, type, text, strlen(text) + 1); }

void put_u32(struct message_buffer *b, uint16_t type, uint32_t value) { put_attribute(b, type, &value, sizeof value); }

void put_be32(struct message_buffer *b, uint16_t type, uint32_t value) { put_u32(b, type, htonl(value)); }

size_t begin_nest(struct message_buffer *b, uint16_t type) {
  size_t nest = b->len;
  put_attribute(b, type | NLA_F_NESTED, NULL, 0);
  return nest;
}

void end_nest(struct message_buffer *b, size_t nest) {
  uint16_t len = (uint16_t)(b->len - nest);
  if (b->len <= sizeof b->bytes) memcpy(b->bytes + nest, &len, sizeof len);
}

int exchange(int sock, struct message_buffer *b) {
  _Alignas(4) unsigned char answer[8192];
  size_t len = b->len;
  b->len = 0;
  if (len > sizeof b->bytes) return EMSGSIZE;
  if (send(sock, b->bytes, len, 0) != (ssize_t)len) return errno;
  ssize_t got = recv(sock, answer, sizeof answer, 0);
  if (got < 0) return errno;
  struct nlmsghdr header;
  int error;
  if ((size_t)got < sizeof header + sizeof error) return EPROTO;
  memcpy(&header, answer, sizeof header);
  memcpy(&error, answer + sizeof header, sizeof error);
  return header.nlmsg_type == NLMSG_ERROR ? -error : EPROTO;
}
