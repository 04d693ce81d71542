/* Assay's door to the network: a port on the loopback of the container, whose connections go out over the same channel as
   everything else. What is behind it decides; here bytes are carried. */
#define _GNU_SOURCE
#include "steward.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Channels of connections are told from those of calls by their highest bit. */
#define DOOR_CHANNEL 0x80000000u
/* How much may be on its way to assay before it has taken some. */
#define WINDOW (256u << 10)
#define BACKLOG 128

struct door {
  int fd, has_ended, ends_after;
  uint32_t channel, window;
  struct backlog out;
};

static int listener = -1;
static uint32_t opened;
static struct door doors[MAX_DOORS];
static size_t door_count;

void listen_door(const struct frame *f) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  if (f->len != 4 || listener >= 0) return send_error(f->channel, EINVAL);
  address.sin_port = htons((uint16_t)get_u32(f->data));
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), on = 1;
  if (fd < 0) return send_error(f->channel, errno);
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(fd, (struct sockaddr *)&address, sizeof address) || listen(fd, BACKLOG)) {
    int error = errno;
    close(fd);
    return send_error(f->channel, error);
  }
  listener = fd;
  send_ok(f->channel);
}

static struct door *find_door(uint32_t channel) {
  for (size_t i = 0; i < door_count; i++)
    if (doors[i].channel == channel) return &doors[i];
  return NULL;
}

static void close_door(struct door *door) {
  close(door->fd);
  backlog_free(&door->out);
  *door = doors[--door_count];
}

static void reset_door(struct door *door) {
  struct linger now = {.l_onoff = 1};
  setsockopt(door->fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  close_door(door);
}

/* False when the connection is gone. */
static int flush_door(struct door *door) {
  ssize_t n = backlog_flush(&door->out, door->fd);
  if (n < 0) {
    send_frame(SAY_DOOR_RESET, door->channel, NULL, 0);
    close_door(door);
    return 0;
  }
  if (n > 0) {
    unsigned char taken[4];
    put_u32(taken, (uint32_t)n);
    send_frame(SAY_DOOR_WINDOW, door->channel, taken, sizeof taken);
  }
  if (door->out.at == door->out.len && door->ends_after) {
    shutdown(door->fd, SHUT_WR);
    if (door->has_ended) {
      close_door(door);
      return 0;
    }
  }
  return 1;
}

void feed_door(const struct frame *f) {
  struct door *door = find_door(f->channel);
  if (!door) return;
  if (f->type == DO_DOOR_RESET) return reset_door(door);
  if (f->type == DO_DOOR_WINDOW && f->len == 4) door->window += get_u32(f->data);
  if (f->type == DO_DOOR_DATA) backlog_add(&door->out, f->data, f->len);
  if (f->type == DO_DOOR_END) door->ends_after = 1;
  if (f->type != DO_DOOR_WINDOW) flush_door(door);
}

static void accept_door(void) {
  int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC), on = 1;
  if (fd < 0) return;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  struct door *door = &doors[door_count++];
  *door = (struct door){.fd = fd, .channel = DOOR_CHANNEL | opened++, .window = WINDOW};
  opened &= ~DOOR_CHANNEL;
  send_frame(SAY_DOOR_OPEN, door->channel, NULL, 0);
}

/* False when the connection is gone. */
static int drain_door(struct door *door) {
  static unsigned char bytes[CHUNK];
  ssize_t n = read(door->fd, bytes, door->window < sizeof bytes ? door->window : sizeof bytes);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return 1;
  if (n > 0) {
    door->window -= (uint32_t)n;
    send_frame(SAY_DOOR_DATA, door->channel, bytes, (size_t)n);
    return 1;
  }
  send_frame(n < 0 ? SAY_DOOR_RESET : SAY_DOOR_END, door->channel, NULL, 0);
  door->has_ended = 1;
  if (n == 0 && !(door->ends_after && door->out.at == door->out.len)) return 1;
  close_door(door);
  return 0;
}

/* The listener first, then each connection. */
size_t poll_doors(struct pollfd *fds) {
  fds[0] = (struct pollfd){.fd = door_count < MAX_DOORS ? listener : -1, .events = POLLIN};
  for (size_t i = 0; i < door_count; i++) {
    short events = 0;
    if (!doors[i].has_ended && doors[i].window > 0) events |= POLLIN;
    if (doors[i].out.at < doors[i].out.len) events |= POLLOUT;
    /* Without events a hang-up would be told again and again. */
    fds[1 + i] = (struct pollfd){.fd = events ? doors[i].fd : -1, .events = events};
  }
  return 1 + door_count;
}

/* From the last: one that is gone gives its place to the last. */
void serve_doors(const struct pollfd *fds, size_t count) {
  for (size_t i = count - 1; i > 0; i--) {
    if (!fds[i].revents) continue;
    if ((fds[i].revents & (POLLOUT | POLLERR)) && !flush_door(&doors[i - 1])) continue;
    if (fds[i].events & POLLIN) drain_door(&doors[i - 1]);
  }
  if (fds[0].revents) accept_door();
}
