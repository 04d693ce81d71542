/* The holder of one sandbox: its mount namespace has the files that outlive a call, and it forks a supervisor for each
   call. It hands on bytes between the pipes of the programs and the one connection to assay, whose end is its own. */
#define _GNU_SOURCE
#include "calls.h"
#include "outbox.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_FRAME (80u << 20)
#define QUIET_MS 10 /* so long after a call nobody seems to be done with the sandbox, or in a hurry */
#define LEAVING_MS 20
#define LEAVING_ROUNDS 50

struct holder {
  int opener, children;
  struct calls calls;
  struct outbox out;
  char *incoming;
  size_t incoming_len, incoming_cap;
};

static struct holder *self; /* for the failure of a set-up, which is told from anywhere */

/* ---- saying ---- */

static void tell_failure(const char *line) {
  int flags = fcntl(self->out.connection, F_GETFL);
  fcntl(self->out.connection, F_SETFL, flags & ~O_NONBLOCK);
  say(&self->out, SAY_FAILED, 0, line, strlen(line));
  flush(&self->out);
}

static void set_up(struct holder *h, const char *bytes, size_t len) {
  struct setup setup;
  pid_t pid = getpid();
  if (len < sizeof setup + 1 || bytes[len - 1]) die("plan", "set-up is too short");
  memcpy(&setup, bytes, sizeof setup); /* what came need not lie where numbers may */
  mount_files(h->opener, &setup, bytes + sizeof setup);
  say(&h->out, SAY_READY, 0, &pid, sizeof pid);
}

/* ---- calls ---- */

static struct call *find_call(struct holder *h, uint32_t id) {
  for (size_t i = 0; i < MAX_CALLS; i++)
    if (h->calls.all[i] && h->calls.all[i]->id == id && !h->calls.all[i]->is_over) return h->calls.all[i];
  return NULL;
}

static void begin_call(struct holder *h, uint32_t id, const char *bytes, size_t len) {
  if (start_call(&h->calls, id, bytes, len)) return;
  char line[128];
  int n = snprintf(line, sizeof line, "{\"failed\":\"holder\",\"what\":\"start\",\"errno\":%d}\n", errno);
  say(&h->out, SAY_REPORT, id, line, (size_t)n);
  say(&h->out, SAY_DONE, id, NULL, 0);
}

/* The program and all that it started have ended, and what they wrote last has been handed on. */
static void tell_end(struct holder *h, struct call *call) {
  char bytes[CHUNK];
  off_t at = 8;
  /* The plan stands before the report. */
  uint32_t kind, size;
  for (; pread(call->report, &kind, 4, at) == 4 && pread(call->report, &size, 4, at + 4) == 4;) {
    at += 8 + (off_t)size;
    if (kind == PLAN_END) break;
  }
  for (ssize_t got; (got = pread(call->report, bytes, sizeof bytes, at)) > 0; at += got) {
    say(&h->out, SAY_REPORT, call->id, bytes, (size_t)got);
    if (is_behind(&h->out)) catch_up(&h->out);
  }
  struct statvfs work, tmp;
  uint64_t free_now[4] = {~0ull, ~0ull, ~0ull, ~0ull};
  if (!statvfs(WORKSPACE, &work)) free_now[0] = (uint64_t)work.f_bfree, free_now[1] = (uint64_t)work.f_ffree;
  if (!statvfs(TEMPORARY, &tmp)) free_now[2] = (uint64_t)tmp.f_bfree, free_now[3] = (uint64_t)tmp.f_ffree;
  say(&h->out, SAY_DONE, call->id, free_now, sizeof free_now);
  close_end(&call->in);
  close_end(&call->report);
  close_end(&call->over);
  free(call->input);
  call->input = NULL;
  call->input_at = call->input_len = 0;
}

/* Returns whether there may be more. */
static bool hand_on(struct holder *h, struct call *call, int *fd, char kind) {
  char bytes[CHUNK];
  ssize_t got = read(*fd, bytes, sizeof bytes);
  if (got > 0) {
    say(&h->out, kind, call->id, bytes, (size_t)got);
    return true;
  }
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  close_end(fd);
  return false;
}

static void feed(struct holder *h, struct call *call) {
  if (call->in < 0) return;
  while (call->input_at < call->input_len) {
    ssize_t sent = write(call->in, call->input + call->input_at, call->input_len - call->input_at);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) return;
    if (sent < 0) { /* nobody reads it any more: what comes is taken and dropped */
      uint32_t rest = (uint32_t)(call->input_len - call->input_at);
      say(&h->out, SAY_TAKEN, call->id, &rest, sizeof rest);
      call->input_at = call->input_len = 0;
      close_end(&call->in);
      return;
    }
    uint32_t taken = (uint32_t)sent;
    call->input_at += taken;
    say(&h->out, SAY_TAKEN, call->id, &taken, sizeof taken);
  }
  call->input_at = call->input_len = 0;
  if (call->is_input_over) close_end(&call->in);
}

static void add_input(struct holder *h, struct call *call, const char *bytes, size_t len) {
  if (call->in < 0) {
    uint32_t taken = (uint32_t)len;
    say(&h->out, SAY_TAKEN, call->id, &taken, sizeof taken);
    return;
  }
  make_room(&call->input, &call->input_cap, call->input_len + len);
  memcpy(call->input + call->input_len, bytes, len);
  call->input_len += len;
  feed(h, call);
}

static void answer_file(struct holder *h, uint32_t id, const char *bytes, size_t len) {
  struct answer answer = perform_file(bytes, len);
  size_t total = sizeof answer.error + answer.len;
  char *reply = malloc(total);
  if (!reply) _exit(125);
  memcpy(reply, &answer.error, sizeof answer.error);
  if (answer.len) memcpy(reply + sizeof answer.error, answer.bytes, answer.len);
  say(&h->out, SAY_FILE, id, reply, total);
  free(reply);
  free(answer.bytes);
}

static void obey(struct holder *h, const struct frame *head, const char *bytes) {
  struct call *call = find_call(h, head->call);
  switch (head->kind) {
    case TO_SETUP: set_up(h, bytes, head->len); break;
    case TO_BOUNDARY:
      free(h->calls.boundary);
      h->calls.boundary = malloc(head->len);
      if (!h->calls.boundary) _exit(125);
      memcpy(h->calls.boundary, bytes, head->len);
      h->calls.boundary_len = head->len;
      flush(&h->out); /* assay need not wait */
      make_code_place();
      make_spare(&h->calls);
      break;
    case TO_RUN: begin_call(h, head->call, bytes, head->len); break;
    case TO_STDIN:
      if (call) add_input(h, call, bytes, head->len);
      break;
    case TO_STDIN_END:
      if (call) call->is_input_over = true, feed(h, call);
      break;
    case TO_SIGNAL: case TO_CLOCK: /* the supervisor passes it on, or begins to count */
      if (call && !call->is_ended && head->len == 4) {
        union sigval value;
        memcpy(&value.sival_int, bytes, 4);
        sigqueue(call->supervisor, head->kind == TO_CLOCK ? START_CLOCK : PASS_ON, value);
      }
      break;
    case TO_KILL:
      if (call && !call->is_ended) kill(call->supervisor, END_ALL);
      break;
    case TO_FILE: answer_file(h, head->call, bytes, head->len); break;
    default: _exit(125);
  }
}

/* ---- the holder's own life ---- */

/* A supervisor that is killed takes its keeper with it, and a keeper its pid namespace; one whose program is over ends by
   itself. Searching all of /proc for what is left takes long, and is for what should not be. */
static _Noreturn void leave(struct holder *h) {
  struct signalfd_siginfo drained;
  for (size_t i = 0; i < MAX_CALLS; i++)
    if (h->calls.all[i] && !h->calls.all[i]->is_ended && !h->calls.all[i]->is_over) kill(h->calls.all[i]->supervisor, SIGKILL);
  if (h->calls.spare) kill(h->calls.spare->supervisor, SIGKILL);
  for (int rounds = 0; rounds < LEAVING_ROUNDS; rounds++) {
    pid_t pid;
    while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) {
    }
    if (pid < 0 && errno == ECHILD) _exit(0);
    struct pollfd fd = {h->children, POLLIN, 0};
    poll(&fd, 1, LEAVING_MS);
    while (read(h->children, &drained, sizeof drained) > 0) {
    }
  }
  end_children();
  _exit(0);
}

static void hear(struct holder *h) {
  make_room(&h->incoming, &h->incoming_cap, h->incoming_len + CHUNK);
  ssize_t got = recv(h->out.connection, h->incoming + h->incoming_len, h->incoming_cap - h->incoming_len, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) leave(h);
  h->incoming_len += (size_t)got;
  size_t at = 0;
  struct frame head;
  while (h->incoming_len - at >= sizeof head) {
    memcpy(&head, h->incoming + at, sizeof head);
    if (head.len > MAX_FRAME) leave(h);
    if (h->incoming_len - at < sizeof head + head.len) {
      make_room(&h->incoming, &h->incoming_cap, sizeof head + head.len + CHUNK + at);
      break;
    }
    obey(h, &head, h->incoming + at + sizeof head);
    at += sizeof head + head.len;
  }
  memmove(h->incoming, h->incoming + at, h->incoming_len - at);
  h->incoming_len -= at;
}

/* A supervisor that ends without a word is seen by its end. */
static void hear_end(struct call *call) {
  char byte;
  if (read(call->over, &byte, 1) == 1) call->is_over = true;
  else close_end(&call->over);
}

static void reap(struct holder *h) {
  struct signalfd_siginfo drained;
  while (read(h->children, &drained, sizeof drained) > 0) {
  }
  for (pid_t pid; (pid = waitpid(-1, NULL, WNOHANG)) > 0;) {
    for (size_t i = 0; i < MAX_CALLS; i++)
      if (h->calls.all[i] && h->calls.all[i]->supervisor == pid) h->calls.all[i]->is_ended = true;
    if (h->calls.spare && h->calls.spare->supervisor == pid) free_call(h->calls.spare), h->calls.spare = NULL;
  }
}

/* Nothing that could write is left, so what is in the pipes is all there will be. The supervisor clears up meanwhile. */
static void finish_calls(struct holder *h) {
  for (size_t i = 0; i < MAX_CALLS; i++) {
    struct call *call = h->calls.all[i];
    if (!call || !(call->is_ended || call->is_over)) continue;
    bool is_told = call->report < 0;
    while (call->out >= 0 && hand_on(h, call, &call->out, SAY_STDOUT)) {
    }
    while (call->err >= 0 && hand_on(h, call, &call->err, SAY_STDERR)) {
    }
    close_end(&call->out);
    close_end(&call->err);
    if (!is_told) tell_end(h, call);
    if (call->is_ended) free_call(call), h->calls.all[i] = NULL;
  }
}

static int watch_children(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  sigset_t blocked = set;
  /* For supervisors, which have them blocked from the first moment on: each would be the end of one that does not. */
  const int orders[] = {END_ALL, PASS_ON, START_CLOCK};
  for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) sigaddset(&blocked, orders[i]);
  sigprocmask(SIG_SETMASK, &blocked, NULL);
  int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (fd < 0) _exit(125);
  return fd;
}

static void turn(struct holder *h) {
  struct pollfd fds[2 + MAX_CALLS * 4];
  size_t count = 2;
  bool is_full = is_behind(&h->out);
  fds[0] = (struct pollfd){h->out.connection, (short)(POLLIN | (h->out.len ? POLLOUT : 0)), 0};
  fds[1] = (struct pollfd){h->children, POLLIN, 0};
  for (size_t i = 0; i < MAX_CALLS; i++) {
    struct call *call = h->calls.all[i];
    if (!call) continue;
    fds[count++] = (struct pollfd){is_full ? -1 : call->out, POLLIN, 0};
    fds[count++] = (struct pollfd){is_full ? -1 : call->err, POLLIN, 0};
    fds[count++] = (struct pollfd){call->input_at < call->input_len ? call->in : -1, POLLOUT, 0};
    fds[count++] = (struct pollfd){call->is_over ? -1 : call->over, POLLIN, 0};
  }
  int ready = poll(fds, (nfds_t)count, wants_spare(&h->calls) ? QUIET_MS : -1);
  if (ready < 0 && errno != EINTR) leave(h);
  if (!ready) make_spare(&h->calls);
  count = 2;
  for (size_t i = 0; i < MAX_CALLS; i++) {
    struct call *call = h->calls.all[i];
    if (!call) continue;
    if (fds[count++].revents) hand_on(h, call, &call->out, SAY_STDOUT);
    if (fds[count++].revents) hand_on(h, call, &call->err, SAY_STDERR);
    if (fds[count++].revents) feed(h, call);
    if (fds[count++].revents) hear_end(call);
  }
  if (fds[1].revents) reap(h);
  if (fds[0].revents & (POLLERR | POLLHUP | POLLIN)) hear(h);
  flush(&h->out);
  if (is_behind(&h->out)) return; /* there is a next turn as soon as there is room */
  finish_calls(h);
  flush(&h->out);
}

_Noreturn void run_holder(struct holder_start start) {
  struct holder h = {.out.connection = start.connection, .opener = start.opener};
  self = &h;
  door_sandbox = start.doors;
  if (!door_sandbox) close(DOORS_FD);
  failure_hook = tell_failure;
  signal(SIGCHLD, SIG_DFL);
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  h.children = watch_children();
  for (;;) turn(&h);
}
