/* Netlink messages, put together by hand: one buffer holds the messages that are sent at once. */
#ifndef ASSAY_NETLINK_H
#define ASSAY_NETLINK_H

#include <stddef.h>
#include <stdint.h>

struct message_buffer {
  _Alignas(4) unsigned char bytes[32768];
  size_t len, message; /* where the message that is being written starts */
};

/* Each returns where its length is to be filled in later, or writes a whole. */
void begin_message(struct message_buffer *b, uint16_t type, uint16_t flags, const void *header, size_t header_len);
void end_message(struct message_buffer *b);
size_t begin_nest(struct message_buffer *b, uint16_t type);
void end_nest(struct message_buffer *b, size_t nest);
void put_attribute(struct message_buffer *b, uint16_t type, const void *data, size_t len);
void put_text(struct message_buffer *b, uint16_t type, const char *text);
void put_u32(struct message_buffer *b, uint16_t type, uint32_t value);
void put_be32(struct message_buffer *b, uint16_t type, uint32_t value);

/* Sends what is in the buffer and takes one answer: 0, or an errno. The buffer is empty afterwards. */
int exchange(int sock, struct message_buffer *b);

#endif
