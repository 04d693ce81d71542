/* What the holder of a sandbox says to assay, as long as assay has not taken it. */
#include "outbox.h"
#include "serve.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAX_PENDING (1u << 20) /* what assay has not taken: beyond that, programs wait */

void make_room(char **bytes, size_t *cap, size_t wanted) {
  if (wanted <= *cap) return;
  size_t next = *cap ? *cap : CHUNK;
  while (next < wanted) next *= 2;
  char *grown = realloc(*bytes, next);
  if (!grown) _exit(125);
  *bytes = grown;
  *cap = next;
}

void flush(struct outbox *out) {
  while (out->at < out->len) {
    ssize_t sent = send(out->connection, out->bytes + out->at, out->len - out->at, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return; /* full, or gone: the next poll says which */
    out->at += (size_t)sent;
  }
  out->at = out->len = 0;
}

void say(struct outbox *out, char kind, uint32_t call, const void *bytes, size_t len) {
  struct frame head = {.kind = (uint8_t)kind, .call = call, .len = (uint32_t)len};
  if (out->at) {
    memmove(out->bytes, out->bytes + out->at, out->len - out->at);
    out->len -= out->at;
    out->at = 0;
  }
  make_room(&out->bytes, &out->cap, out->len + sizeof head + len);
  memcpy(out->bytes + out->len, &head, sizeof head);
  if (len) memcpy(out->bytes + out->len + sizeof head, bytes, len);
  out->len += sizeof head + len;
}

bool is_behind(const struct outbox *out) { return out->len - out->at > MAX_PENDING; }

/* Memory is the sandbox's, and short: what is long goes out before more of it comes in. */
void catch_up(struct outbox *out) {
  struct pollfd ready = {out->connection, POLLOUT, 0};
  for (flush(out); is_behind(out) && poll(&ready, 1, -1) > 0 && !(ready.revents & (POLLERR | POLLHUP)); flush(out)) {
  }
}
