/* Patterns over absolute paths: `*`, `?` and `[…]` inside a segment, `**` as a whole segment, `\` quotes the next
   byte. A pattern covers what it names and everything below. The twin of src/policy/glob.ts; tests compare the two. */
#include "assay.h"

#include <string.h>

struct span {
  const char *at;
  size_t len;
};

static struct span segment(const char *path) {
  while (*path == '/') path++;
  return (struct span){path, strcspn(path, "/")};
}

/* One code point, or one byte where the bytes are no UTF-8: names are bytes to the kernel. */
static uint32_t take_code(const char **at, const char *end) {
  const unsigned char *p = (const unsigned char *)*at;
  int more = p[0] >= 0xf0 ? 3 : p[0] >= 0xe0 ? 2 : p[0] >= 0xc0 ? 1 : 0;
  uint32_t code = more ? p[0] & (0x3fu >> more) : p[0];
  for (int i = 1; i <= more; i++) {
    if (*at + i >= end || (p[i] & 0xc0) != 0x80) return ++*at, p[0];
    code = code << 6 | (p[i] & 0x3f);
  }
  *at += more + 1;
  return code;
}

static bool in_class(const char **pattern, const char *end, uint32_t c) {
  const char *p = *pattern + 1;
  bool negated = p < end && (*p == '!' || *p == '^'), found = false;
  if (negated) p++;
  for (bool first = true; p < end && (first || *p != ']'); first = false) {
    if (*p == '\\' && p + 1 < end) p++;
    uint32_t low = take_code(&p, end), high = low;
    if (p + 1 < end && *p == '-' && p[1] != ']') {
      p++;
      if (*p == '\\' && p + 1 < end) p++;
      high = take_code(&p, end);
    }
    if (low <= c && c <= high) found = true;
  }
  *pattern = p < end ? p + 1 : p;
  return found != negated;
}

static bool closes(const char *p, const char *end) {
  p++;
  if (p < end && (*p == '!' || *p == '^')) p++;
  if (p < end) p += *p == '\\' && p + 1 < end ? 2 : 1;
  while (p < end && *p != ']') p += *p == '\\' && p + 1 < end ? 2 : 1;
  return p < end;
}

/* One segment against one name; remembers only the last star, so it is quadratic at worst. */
static bool match_segment(struct span pattern, struct span name) {
  const char *p = pattern.at, *pe = p + pattern.len, *n = name.at, *ne = n + name.len;
  const char *star = NULL, *resume = NULL;
  for (;;) {
    bool ok = false;
    if (p == pe) {
      if (n == ne) return true;
    } else if (*p == '*') {
      star = ++p;
      resume = n;
      continue;
    } else if (n < ne) {
      if (*p == '?') {
        p++, take_code(&n, ne), ok = true;
      } else if (*p == '[' && closes(p, pe)) {
        const char *next = p, *after = n;
        if (in_class(&next, pe, take_code(&after, ne))) p = next, n = after, ok = true;
      } else {
        const char *literal = *p == '\\' && p + 1 < pe ? p + 1 : p;
        if (*literal == *n) p = literal + 1, n++, ok = true;
      }
    }
    if (ok) continue;
    if (!star || resume == ne) return false;
    p = star;
    take_code(&resume, ne);
    n = resume;
  }
}

static bool is_globstar(struct span s) { return s.len == 2 && s.at[0] == '*' && s.at[1] == '*'; }

static bool match(const char *pattern, const char *path, bool is_below_enough) {
  const char *star = NULL, *resume = NULL;
  for (;;) {
    struct span p = segment(pattern), n = segment(path);
    if (!p.len && (is_below_enough || !n.len)) return true;
    if (p.len && is_globstar(p)) {
      star = pattern = p.at + p.len;
      resume = path;
      continue;
    }
    if (p.len && n.len && match_segment(p, n)) {
      pattern = p.at + p.len;
      path = n.at + n.len;
      continue;
    }
    if (!star) return false;
    struct span skipped = segment(resume);
    if (!skipped.len) return false;
    pattern = star;
    path = resume = skipped.at + skipped.len;
  }
}

/* All of the pattern is used up: at or below. */
bool match_pattern(const char *pattern, const char *path) { return match(pattern, path, true); }

/* Does the whole of `dir` use up a leading part of the pattern that ends in a named segment, with more to come?
   True for `/ws/.git` under a pattern that ends in `.git/hooks`: a directory moved there would bring protected names with it. */
bool match_prefix(const char *pattern, const char *dir) {
  char head[PATH_CAP];
  for (const char *cut = strchr(pattern + 1, '/'); cut; cut = strchr(cut + 1, '/')) {
    size_t len = (size_t)(cut - pattern);
    if (len >= sizeof head || (len >= 3 && !memcmp(cut - 3, "/**", 3))) continue;
    memcpy(head, pattern, len);
    head[len] = 0;
    if (match(head, dir, false)) return true;
  }
  return false;
}

bool path_is_under(const char *path, const char *dir, size_t dir_len) {
  if (dir_len == 1 && dir[0] == '/') return true;
  return !strncmp(path, dir, dir_len) && (path[dir_len] == 0 || path[dir_len] == '/');
}

size_t pattern_literal_len(const char *pattern, bool *is_literal) {
  size_t end = strcspn(pattern, "*?[\\");
  *is_literal = pattern[end] == 0;
  if (*is_literal) return end;
  while (end > 0 && pattern[end] != '/') end--;
  return end ? end : 1;
}
