/* One loop: what the host asks for, what programs print, how they end. */
#define _GNU_SOURCE
#include "agent.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define POLLED (2 + MAX_CALLS * 3 + 1 + MAX_STREAMS)

static struct box box;

uint64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void handle(uint32_t type, uint32_t id, struct reader *payload) {
  switch (type) {
  case REQ_SETUP: return send_done(id, set_up(payload, &box), NULL, 0);
  case REQ_EXEC: return call_start(id, payload, &box);
  case REQ_STDIN: return call_input(id, payload);
  case REQ_STDIN_END: return call_input_end(id);
  case REQ_SIGNAL: return call_signal(id, (int)take32(payload));
  case REQ_KILL: return call_kill(id);
  case REQ_FILES: return serve_files(id, payload, &box);
  case REQ_CREDIT: return stream_credit(id, take32(payload));
  case REQ_NET_DATA: return stream_data(id, payload);
  case REQ_NET_END: return stream_end(id);
  case REQ_NET_RESET: return stream_reset(id);
  default: errno = EPROTO; die("a frame of no known type");
  }
}

static int open_signals(void) {
  sigset_t children;
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  sigprocmask(SIG_BLOCK, &children, NULL);
  signal(SIGPIPE, SIG_IGN);
  return signalfd(-1, &children, SFD_NONBLOCK | SFD_CLOEXEC);
}

static void reap(int signals) {
  struct signalfd_siginfo info;
  int status;
  while (read(signals, &info, sizeof info) > 0) continue;
  for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) call_reap(pid, status);
}

int main(void) {
  static struct pollfd polled[POLLED];
  start_guest();
  enter_root();
  warm_up();
  int signals = open_signals();
  if (signals < 0) die("signals");
  for (;;) {
    polled[0] = (struct pollfd){.fd = channel_fd(), .events = (short)((channel_has_room() ? POLLIN : 0) | (channel_wants_write() ? POLLOUT : 0))};
    polled[1] = (struct pollfd){.fd = signals, .events = POLLIN};
    size_t count = door_poll(polled, calls_poll(polled, 2));
    if (poll(polled, count, calls_wait_ms()) < 0 && errno != EINTR) die("poll");
    reap(signals);
    door_serve(polled, calls_serve(polled, 2));
    channel_read(handle);
    calls_tick(&box);
    channel_flush();
  }
}
