#include "assay.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void (*failure_hook)(const char *line);
bool is_report_in_memory;

/* One write per line: the file is in append mode, so lines of two processes never mix. */
void report_line(const char *format, ...) {
  char line[PATH_CAP * 7];
  va_list args;
  va_start(args, format);
  int len = vsnprintf(line, sizeof line - 1, format, args);
  va_end(args);
  if (len < 0 || (size_t)len >= sizeof line - 1) return;
  line[len++] = '\n';
  ssize_t written = write(PLAN_FD, line, (size_t)len);
  (void)written; /* a full disk must not stop the program's end from being handled */
}

/* Bytes outside printable ASCII become \u00XX: names are bytes to the kernel, not text. */
void report_json_string(char *out, size_t cap, const char *bytes, size_t len) {
  size_t n = 0;
  for (size_t i = 0; i < len && n + 7 < cap; i++) {
    unsigned char c = (unsigned char)bytes[i];
    if (c == '"' || c == '\\') {
      out[n++] = '\\';
      out[n++] = (char)c;
    } else if (c < 0x20 || c >= 0x7f) {
      n += (size_t)snprintf(out + n, cap - n, "\\u%04x", c);
    } else {
      out[n++] = (char)c;
    }
  }
  out[n] = 0;
}

/* Before there is a plan, nothing may be written to its file: what fails then is tried again, and told then. */
static bool are_held;
void hold_reports(bool is_held) { are_held = is_held; }

static _Noreturn void fail(const char *step, const char *what, int error) {
  char quoted[1024];
  if (are_held) _exit(125);
  report_json_string(quoted, sizeof quoted, what, strlen(what));
  if (failure_hook) {
    char line[1200];
    snprintf(line, sizeof line, "{\"failed\":\"%s\",\"what\":\"%s\",\"errno\":%d}\n", step, quoted, error);
    failure_hook(line);
  } else report_line("{\"failed\":\"%s\",\"what\":\"%s\",\"errno\":%d}", step, quoted, error);
  _exit(125);
}

void die(const char *step, const char *what) { fail(step, what, 0); }
void die_errno(const char *step, const char *what) { fail(step, what, errno); }
