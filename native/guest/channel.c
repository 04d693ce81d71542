/* Frames over the virtio port: type, number of the call, length, payload. Little-endian, as the only machine is. */
#define _GNU_SOURCE
#include "agent.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEADER 12
/* Requests are read, and output is taken, only while less than half is in use: so every answer finds room. */
#define QUEUE_CAP (2 * 1024 * 1024)

static int port = -1;
static unsigned char incoming[HEADER + MAX_PAYLOAD];
static size_t have;
static unsigned char *queue;
static size_t queue_start, queue_size;

static bool has_payload_room(size_t size) { return QUEUE_CAP - queue_size >= size; }

uint32_t take32(struct reader *reader) {
  const unsigned char *bytes = take_bytes(reader, 4);
  uint32_t value = 0;
  if (bytes) memcpy(&value, bytes, 4);
  return value;
}

uint64_t take64(struct reader *reader) {
  const unsigned char *bytes = take_bytes(reader, 8);
  uint64_t value = 0;
  if (bytes) memcpy(&value, bytes, 8);
  return value;
}

const unsigned char *take_bytes(struct reader *reader, size_t size) {
  if (reader->is_bad || reader->left < size) {
    reader->is_bad = true;
    return NULL;
  }
  const unsigned char *bytes = reader->at;
  reader->at += size;
  reader->left -= size;
  return bytes;
}

void channel_open(void) {
  /* The only port there is; the number of its device depends on the order of the drivers. */
  static const char *const names[] = {"/dev/vport0p1", "/dev/vport1p1", "/dev/vport2p1"};
  for (int tries = 0; tries < 500 && port < 0; tries++) {
    for (size_t i = 0; i < sizeof names / sizeof *names && port < 0; i++) port = open(names[i], O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (port < 0) usleep(10 * 1000);
  }
  queue = malloc(QUEUE_CAP);
  if (port < 0 || !queue) die("virtio port");
}

int channel_fd(void) { return port; }
bool channel_has_room(void) { return queue_size < QUEUE_CAP / 2; }
bool channel_wants_write(void) { return queue_size > 0; }

static void enqueue(const void *data, size_t size) {
  size_t end = (queue_start + queue_size) % QUEUE_CAP;
  size_t first = size < QUEUE_CAP - end ? size : QUEUE_CAP - end;
  if (size == 0) return;
  memcpy(queue + end, data, first);
  memcpy(queue, (const unsigned char *)data + first, size - first);
  queue_size += size;
}

void channel_flush(void) {
  while (queue_size > 0) {
    size_t run = queue_size < QUEUE_CAP - queue_start ? queue_size : QUEUE_CAP - queue_start;
    ssize_t put = write(port, queue + queue_start, run);
    if (put < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (put <= 0) die("write to the host");
    queue_start = (queue_start + (size_t)put) % QUEUE_CAP;
    queue_size -= (size_t)put;
  }
}

void send_frame(uint32_t type, uint32_t id, const void *head, size_t head_size, const void *data, size_t size) {
  uint32_t header[3] = {type, id, (uint32_t)(head_size + size)};
  if (!has_payload_room(HEADER + head_size + size)) die("queue to the host");
  enqueue(header, sizeof header);
  enqueue(head, head_size);
  enqueue(data, size);
}

void send_done(uint32_t id, int error, const void *data, size_t size) {
  uint32_t status = (uint32_t)error;
  send_frame(ANS_DONE, id, &status, sizeof status, data, size);
}

void send_number(uint32_t type, uint32_t id, uint32_t number) { send_frame(type, id, &number, sizeof number, NULL, 0); }

/* Handles whole frames; what is left of one waits for the rest. */
static void handle_frames(void (*handle)(uint32_t type, uint32_t id, struct reader *payload)) {
  size_t at = 0;
  while (have - at >= HEADER && channel_has_room()) {
    uint32_t header[3];
    memcpy(header, incoming + at, HEADER);
    if (header[2] > MAX_PAYLOAD) die("a frame that is too long");
    if (have - at < HEADER + header[2]) break;
    struct reader payload = {.at = incoming + at + HEADER, .left = header[2]};
    handle(header[0], header[1], &payload);
    at += HEADER + header[2];
  }
  memmove(incoming, incoming + at, have - at);
  have -= at;
}

void channel_read(void (*handle)(uint32_t type, uint32_t id, struct reader *payload)) {
  handle_frames(handle);
  while (have < sizeof incoming && channel_has_room()) {
    ssize_t got = read(port, incoming + have, sizeof incoming - have);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got < 0) die("read from the host");
    if (got == 0) return; /* nobody is connected outside: the host will end this machine */
    have += (size_t)got;
    handle_frames(handle);
  }
}
