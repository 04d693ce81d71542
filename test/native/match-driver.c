/* Answers whole batches of questions to native/match.c: pattern NUL path NUL …, one 1 or 0 for each pair. */
#include "../../native/match.c"

#include <stdio.h>
#include <stdlib.h>

int main(void) {
  size_t len = 0, cap = 1 << 16;
  char *bytes = malloc(cap);
  for (size_t got; (got = fread(bytes + len, 1, cap - len, stdin)) > 0;) {
    len += got;
    if (len == cap) bytes = realloc(bytes, cap *= 2);
  }
  for (const char *at = bytes, *end = bytes + len; at < end;) {
    const char *path = at + strlen(at) + 1;
    putchar(match_pattern(at, path) ? '1' : '0');
    at = path + strlen(path) + 1;
  }
  free(bytes);
  return 0;
}
