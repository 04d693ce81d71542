/* The door to the network: connections to the proxy's address inside become streams to the proxy outside. */
#define _GNU_SOURCE
#include "agent.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define DOOR_PORT 3128
#define FIRST_STREAM 0x80000000u /* numbers below are the host's */

struct stream {
  bool is_used, has_ended_in, has_ended_out; /* in: nothing more to come from the host; out: nothing more to send to it */
  uint32_t id, credit;
  int fd;
  unsigned char *waiting; /* from the host, for the program */
  size_t size;
};

static int listener = -1;
static struct stream streams[MAX_STREAMS];
static uint32_t next_id;

void door_open(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(DOOR_PORT), .sin_addr = {htonl(INADDR_LOOPBACK)}};
  int on = 1;
  listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (listener < 0 || setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) || bind(listener, (struct sockaddr *)&address, sizeof address) ||
      listen(listener, 128))
    die("door");
}

static struct stream *find(uint32_t id) {
  for (size_t i = 0; i < MAX_STREAMS; i++)
    if (streams[i].is_used && streams[i].id == id) return &streams[i];
  return NULL;
}

static void forget(struct stream *stream) {
  close(stream->fd);
  free(stream->waiting);
  memset(stream, 0, sizeof *stream);
}

static void cut(struct stream *stream) {
  struct linger at_once = {1, 0};
  setsockopt(stream->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  forget(stream);
}

static void settle(struct stream *stream) {
  if (stream->has_ended_in && stream->size == 0) {
    if (stream->has_ended_out) return forget(stream);
    shutdown(stream->fd, SHUT_WR);
  }
}

static struct stream *find_free(void) {
  for (size_t i = 0; i < MAX_STREAMS; i++)
    if (!streams[i].is_used) return &streams[i];
  return NULL;
}

static void let_in(void) {
  struct stream *stream = find_free();
  int on = 1, fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd < 0 || !stream) return;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  *stream = (struct stream){.is_used = true, .id = FIRST_STREAM | (next_id++ & 0x7fffffff), .credit = WINDOW, .fd = fd, .waiting = malloc(WINDOW)};
  if (!stream->waiting) die("memory");
  send_frame(ANS_NET_OPEN, stream->id, NULL, 0, NULL, 0);
}

void stream_data(uint32_t id, struct reader *payload) {
  struct stream *stream = find(id);
  if (!stream) return;
  if (stream->has_ended_in || payload->left > WINDOW - stream->size) die("data beyond what was granted");
  memcpy(stream->waiting + stream->size, payload->at, payload->left);
  stream->size += payload->left;
}

void stream_end(uint32_t id) {
  struct stream *stream = find(id);
  if (!stream) return;
  stream->has_ended_in = true;
  settle(stream);
}

void stream_reset(uint32_t id) {
  struct stream *stream = find(id);
  if (stream) cut(stream);
}

void stream_credit(uint32_t id, uint32_t bytes) {
  struct stream *stream = find(id);
  if (stream && bytes <= WINDOW - stream->credit) stream->credit += bytes;
}

static void lose(struct stream *stream) {
  send_frame(ANS_NET_RESET, stream->id, NULL, 0, NULL, 0);
  cut(stream);
}

static void send_on(struct stream *stream) {
  static unsigned char bytes[CHUNK];
  size_t want = stream->credit < sizeof bytes ? stream->credit : sizeof bytes;
  ssize_t got = recv(stream->fd, bytes, want, 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got < 0) return lose(stream);
  if (got > 0) {
    stream->credit -= (uint32_t)got;
    return send_frame(ANS_NET_DATA, stream->id, NULL, 0, bytes, (size_t)got);
  }
  stream->has_ended_out = true;
  send_frame(ANS_NET_END, stream->id, NULL, 0, NULL, 0);
  settle(stream);
}

static void hand_on(struct stream *stream) {
  ssize_t put = send(stream->fd, stream->waiting, stream->size, MSG_NOSIGNAL);
  if (put < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (put < 0) return lose(stream);
  memmove(stream->waiting, stream->waiting + put, stream->size - (size_t)put);
  stream->size -= (size_t)put;
  send_number(ANS_CREDIT, stream->id, (uint32_t)put);
  settle(stream);
}

size_t door_poll(struct pollfd *polled, size_t at) {
  polled[at++] = (struct pollfd){.fd = find_free() && channel_has_room() ? listener : -1, .events = POLLIN};
  for (size_t i = 0; i < MAX_STREAMS; i++) {
    const struct stream *stream = &streams[i];
    bool can_send = !stream->has_ended_out && stream->credit && channel_has_room();
    short events = (short)((can_send ? POLLIN : 0) | (stream->size ? POLLOUT : 0));
    polled[at++] = (struct pollfd){.fd = stream->is_used && events ? stream->fd : -1, .events = events};
  }
  return at;
}

size_t door_serve(const struct pollfd *polled, size_t at) {
  if (polled[at++].revents) let_in();
  for (size_t i = 0; i < MAX_STREAMS; i++, at++) {
    struct stream *stream = &streams[i];
    if (!polled[at].revents || !stream->is_used || polled[at].fd != stream->fd) continue;
    if (stream->size) hand_on(stream);
    if (stream->is_used && polled[at].fd == stream->fd && (polled[at].events & POLLIN) && channel_has_room()) send_on(stream);
  }
  return at;
}
