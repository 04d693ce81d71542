/* Frames over standard input and output: four bytes of length, one of type, four of channel, all little-endian. */
#define _GNU_SOURCE
#include "steward.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEADER 9
/* Some engines put bytes of their own before the first that assay sends. */
static const char MAGIC[16] = "assay-steward-1\n";

_Noreturn void die(const char *what) {
  dprintf(STDERR_FILENO, "assay-steward: %s: %s\n", what, strerror(errno));
  _exit(70);
}

uint32_t get_u32(const unsigned char *at) {
  return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

uint64_t get_u64(const unsigned char *at) {
  return (uint64_t)get_u32(at) | (uint64_t)get_u32(at + 4) << 32;
}

void put_u32(unsigned char *at, uint32_t value) {
  for (int i = 0; i < 4; i++) at[i] = (unsigned char)(value >> 8 * i);
}

void put_u64(unsigned char *at, uint64_t value) {
  put_u32(at, (uint32_t)value);
  put_u32(at + 4, (uint32_t)(value >> 32));
}

/* Assay always reads, so this waits for no program. */
static void write_all(const unsigned char *data, size_t len) {
  while (len > 0) {
    ssize_t n = write(STDOUT_FILENO, data, len);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) kill_everything(), _exit(0);
    data += n;
    len -= (size_t)n;
  }
}

void send_frame(uint8_t type, uint32_t channel, const void *data, size_t len) {
  static unsigned char buffer[HEADER + CHUNK];
  put_u32(buffer, (uint32_t)len);
  buffer[4] = type;
  put_u32(buffer + 5, channel);
  if (len <= CHUNK) {
    if (len > 0) memcpy(buffer + HEADER, data, len);
    write_all(buffer, HEADER + len);
  } else {
    write_all(buffer, HEADER);
    write_all(data, len);
  }
}

void send_ok(uint32_t channel) {
  send_frame(SAY_OK, channel, NULL, 0);
}

void send_error(uint32_t channel, int error) {
  unsigned char payload[4];
  put_u32(payload, (uint32_t)error);
  send_frame(SAY_ERROR, channel, payload, sizeof payload);
}

/* Reads once and handles the frames that are whole. False when assay is gone. */
int read_frames(void (*handle)(const struct frame *)) {
  static unsigned char *buffer;
  static size_t have, room, matched;
  if (room - have < CHUNK) {
    room = have + 2 * CHUNK;
    buffer = realloc(buffer, room);
    if (!buffer) die("memory");
  }
  ssize_t n = read(STDIN_FILENO, buffer + have, room - have);
  if (n < 0) return errno == EINTR || errno == EAGAIN;
  if (n == 0) return 0;
  have += (size_t)n;
  size_t at = 0;
  for (; matched < sizeof MAGIC && at < have; at++)
    matched = buffer[at] == (unsigned char)MAGIC[matched] ? matched + 1 : buffer[at] == (unsigned char)MAGIC[0];
  while (have - at >= HEADER) {
    struct frame f = {.type = buffer[at + 4], .channel = get_u32(buffer + at + 5), .len = get_u32(buffer + at)};
    if (f.len > MAX_PAYLOAD) die("frame");
    if (have - at < HEADER + f.len) break;
    f.data = buffer + at + HEADER;
    handle(&f);
    at += HEADER + f.len;
  }
  memmove(buffer, buffer + at, have - at);
  have -= at;
  return 1;
}

void backlog_add(struct backlog *b, const void *data, size_t len) {
  if (len == 0) return;
  if (b->at > 0) {
    memmove(b->data, b->data + b->at, b->len - b->at);
    b->len -= b->at;
    b->at = 0;
  }
  if (b->room - b->len < len) {
    b->room = b->len + len;
    b->data = realloc(b->data, b->room);
    if (!b->data) die("memory");
  }
  memcpy(b->data + b->len, data, len);
  b->len += len;
}

/* How much was taken; -1 when nobody will take any more. */
ssize_t backlog_flush(struct backlog *b, int fd) {
  if (b->at == b->len) return 0;
  ssize_t n = write(fd, b->data + b->at, b->len - b->at);
  if (n < 0) return errno == EAGAIN || errno == EINTR ? 0 : -1;
  b->at += (size_t)n;
  return n;
}

void backlog_free(struct backlog *b) {
  free(b->data);
  *b = (struct backlog){0};
}
