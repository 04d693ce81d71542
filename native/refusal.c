/* Refused attempts, each distinct one reported when first seen and counted after that. */
#include "broker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DISTINCT 4096

struct refusal_set {
  size_t count, bytes;
  uint64_t hashes[MAX_DISTINCT * 2];
};

static uint64_t hash(const char *op, const char *path, uint32_t rule) {
  uint64_t h = 1469598103934665603ull ^ rule;
  for (const char *p = op; *p; p++) h = (h ^ (unsigned char)*p) * 1099511628211ull;
  for (const char *p = path; *p; p++) h = (h ^ (unsigned char)*p) * 1099511628211ull;
  return h ? h : 1;
}

static bool is_first(struct broker *b, uint64_t h, size_t len) {
  bool first = false;
  pthread_mutex_lock(&b->lock);
  if (!b->seen) b->seen = calloc(1, sizeof *b->seen);
  if (b->seen && b->seen->count < MAX_DISTINCT) {
    size_t at = h % (MAX_DISTINCT * 2);
    while (b->seen->hashes[at] && b->seen->hashes[at] != h) at = (at + 1) % (MAX_DISTINCT * 2);
    first = !b->seen->hashes[at] && b->seen->bytes + len < REPORT_CAP;
    if (first) b->seen->hashes[at] = h, b->seen->count++, b->seen->bytes += len;
  }
  pthread_mutex_unlock(&b->lock);
  return first;
}

void note_refusal(struct broker *b, const char *op, const char *path, uint32_t rule, int error) {
  char quoted[PATH_CAP * 6];
  atomic_fetch_add(&b->refusals, 1);
  report_json_string(quoted, sizeof quoted, path, strlen(path));
  if (!is_first(b, hash(op, path, rule), strlen(quoted) + 128)) return;
  report_line("{\"refused\":{\"op\":\"%s\",\"path\":\"%s\",\"rule\":%lld,\"errno\":%d}}", op, quoted,
              rule == NO_RULE ? 0LL : rule == GUARD_RULE ? -1LL : (long long)rule, error);
}

/* Not there inside; whether it is there outside, and so was hidden, assay finds out afterwards. */
void note_hidden(struct broker *b, const char *path) {
  char quoted[PATH_CAP * 6];
  report_json_string(quoted, sizeof quoted, path, strlen(path));
  if (!is_first(b, hash("hidden", path, 0), strlen(quoted) + 128)) return;
  report_line("{\"absent\":\"%s\"}", quoted);
}
