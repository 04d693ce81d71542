/* Starts the calls of a sandbox: each has a supervisor of its own, which has the program's pipes and writes the report. */
#define _GNU_SOURCE
#include "calls.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

void close_end(int *fd) {
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

/* Who waits for its plan is told by the channel to come; who does not has the one for doors, where there are any. */
static _Noreturn void become_supervisor(const int ends[6], uint32_t id, struct owner guess, pid_t parent) {
  failure_hook = NULL;
  signal(SIGPIPE, SIG_DFL);
  /* Out of the way of the numbers that they get. */
  int moved[6];
  for (int i = 0; i < 6; i++) moved[i] = ends[i] >= 0 ? fcntl(ends[i], F_DUPFD, 16) : -1;
  for (int i = 0; i < 4; i++) dup2(moved[i], i);
  dup3(moved[4], OVER_FD, O_CLOEXEC);
  if (moved[5] >= 0) dup2(moved[5], DOORS_FD);
  else close(DOORS_FD);
  door_call = id;
  is_report_in_memory = true;
  setsid();
  int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC); /* before the holder, which tells how it ended */
  if (fd >= 0 && write(fd, "500", 3) < 0) { /* then the kernel chooses by size alone */
  }
  if (fd >= 0) close(fd);
  _exit(run_plan(guess, parent));
}

void free_call(struct call *call) {
  int *const ends[] = {&call->in, &call->out, &call->err, &call->report, &call->over, &call->go};
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) close_end(ends[i]);
  free(call->input);
  free(call);
}

/* A call brings the rest of the plan, or the whole of it when its boundary differs from that of the others. */
static bool write_plan(const struct calls *c, int fd, const char *bytes, size_t len) {
  if (len > 8 && !memcmp(bytes, "ASSAYPL1", 8)) return write(fd, bytes, len) == (ssize_t)len;
  return write(fd, c->boundary, c->boundary_len) == (ssize_t)c->boundary_len && write(fd, bytes, len) == (ssize_t)len;
}

/* Starts the supervisor of a call, whose plan is `bytes`; or, where `guess` has namespaces, one that makes them and waits.
   NULL when it cannot be, and errno says why. */
static struct call *fork_call(struct calls *c, uint32_t id, const char *bytes, size_t len, struct owner guess) {
  bool is_spare = guess.namespaces != 0;
  int in[2] = {-1, -1}, out[2] = {-1, -1}, err[2] = {-1, -1}, over[2] = {-1, -1}, go[2] = {-1, -1};
  struct call *call = calloc(1, sizeof *call);
  int report = memfd_create("assay", MFD_CLOEXEC);
  pid_t parent = getpid();
  bool is_ready = call && report >= 0 && (is_spare || write_plan(c, report, bytes, len)) && !pipe2(in, O_CLOEXEC) && !pipe2(out, O_CLOEXEC) &&
                  !pipe2(err, O_CLOEXEC) && !pipe2(over, O_CLOEXEC) && (!is_spare || !socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, go));
  pid_t pid = is_ready ? fork() : -1;
  if (!pid) become_supervisor((const int[]){in[0], out[1], err[1], report, over[1], is_spare ? go[1] : door_sandbox ? DOORS_FD : -1}, id, guess, parent);
  int problem = errno, *const theirs[] = {&in[0], &out[1], &err[1], &over[1], &go[1]};
  for (size_t i = 0; i < sizeof theirs / sizeof *theirs; i++) close_end(theirs[i]);
  if (!call) {
    errno = problem;
    return NULL;
  }
  *call = (struct call){.id = id, .supervisor = pid, .in = in[1], .out = out[0], .err = err[0], .report = report, .over = over[0], .go = go[0]};
  if (pid < 0) {
    free_call(call);
    errno = problem;
    return NULL;
  }
  fcntl(call->in, F_SETFL, O_NONBLOCK);
  fcntl(call->out, F_SETFL, O_NONBLOCK);
  fcntl(call->err, F_SETFL, O_NONBLOCK);
  return call;
}

static bool has_calls(const struct calls *c) {
  for (size_t i = 0; i < MAX_CALLS; i++)
    if (c->all[i]) return true;
  return false;
}

/* Namespaces, user and group, which stand behind the name, the head of the first record, and the flags. */
static struct owner guess_owner(const struct calls *c) {
  struct owner guess = {0};
  if (c->boundary_len >= 20 + sizeof guess && !memcmp(c->boundary, "ASSAYPL1\1", 9)) memcpy(&guess, c->boundary + 20, sizeof guess);
  return guess;
}

/* Half of what starting a call takes is making its namespaces, which are the same for all; so in a quiet moment those of
   the next are made. Not where there are doors, which say whose they are; nor without a pid namespace, when a keeper would
   outlive its supervisor. */
bool wants_spare(const struct calls *c) {
  return !c->spare && !c->has_had_spare && !door_sandbox && guess_owner(c).namespaces & NS_PID && !has_calls(c);
}

void make_spare(struct calls *c) {
  if (!wants_spare(c)) return;
  c->has_had_spare = true;
  c->spare = fork_call(c, 0, NULL, 0, guess_owner(c));
}

/* NULL when there is none, or it has ended meanwhile. */
static struct call *take_spare(struct calls *c, uint32_t id, const char *bytes, size_t len) {
  struct call *call = c->spare;
  c->spare = NULL;
  c->has_had_spare = false;
  if (!call) return NULL;
  call->id = id;
  bool is_released = write_plan(c, call->report, bytes, len) && send(call->go, "G", 1, MSG_NOSIGNAL) == 1;
  if (is_released) close_end(&call->go);
  else kill(call->supervisor, SIGKILL), free_call(call);
  return is_released ? call : NULL;
}

/* NULL when it cannot be started, and errno says why. */
struct call *start_call(struct calls *c, uint32_t id, const char *bytes, size_t len) {
  for (size_t i = 0; i < MAX_CALLS; i++) {
    if (c->all[i]) continue;
    struct call *call = take_spare(c, id, bytes, len);
    return c->all[i] = call ? call : fork_call(c, id, bytes, len, (struct owner){0});
  }
  errno = EAGAIN;
  return NULL;
}
