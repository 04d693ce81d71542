/* Lines of the record that are no events: numbers in pairs, and which program a socket inside belongs to. */
#define _GNU_SOURCE
#include "broker.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define MAX_SOCKETS (1u << 17) /* beyond that many, nobody is told whose a connection was */

/* Pairs of numbers, many to a line. */
void record_pair(struct broker *b, struct pair_list *list, unsigned long long first, unsigned long long second) {
  char pair[64];
  if (list->len == 0) list->len = (size_t)snprintf(list->bytes, sizeof list->bytes, "{\"%s\":[", list->name);
  else list->bytes[list->len++] = ',';
  int len = snprintf(pair, sizeof pair, "[%llu,%llu]", first, second);
  memcpy(list->bytes + list->len, pair, (size_t)len + 1);
  list->len += (size_t)len;
  if (list->len + 128 > sizeof list->bytes) record_pairs_end(b, list);
}

void record_pairs_end(struct broker *b, struct pair_list *list) {
  if (!list->len) return;
  memcpy(list->bytes + list->len, "]}\n", 3);
  record_append(b, list->bytes, list->len + 3);
  list->len = 0;
}

/* Assay sees the other end of a connection: by its local port, the one connection of many that is meant. So this is said
   of each one, also when the same was seen before. */
void record_socket(struct broker *b, uint32_t program, const char *address, unsigned port) {
  static atomic_uint told;
  char line[160];
  if (atomic_load(&told) >= MAX_SOCKETS || atomic_fetch_add(&told, 1) >= MAX_SOCKETS) return;
  int len = snprintf(line, sizeof line, "{\"s\":[%u,%u,\"%s\",%u]}\n", program, port, address, record_age(b));
  if (len > 0 && (size_t)len < sizeof line) record_append(b, line, (size_t)len);
}
