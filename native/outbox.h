/* What the holder of a sandbox says to assay. */
#ifndef OUTBOX_H
#define OUTBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHUNK (1u << 16)

struct outbox {
  int connection;
  char *bytes;
  size_t len, at, cap;
};

void make_room(char **bytes, size_t *cap, size_t wanted);
void say(struct outbox *out, char kind, uint32_t call, const void *bytes, size_t len);
void flush(struct outbox *out);
bool is_behind(const struct outbox *out);
void catch_up(struct outbox *out);

#endif
