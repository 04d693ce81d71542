/* Calls that are under way: their streams, and the shepherd of each. */
#define _GNU_SOURCE
#include "steward.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { IN, OUT, ERR, REPORT, STREAMS };
#define TEXTS 56 /* where the texts of a start begin */

struct call {
  int is_used, is_ended, has_report, closes_input;
  uint32_t channel;
  pid_t shepherd;
  int fds[STREAMS], orders;
  struct backlog input;
  uint64_t room[ERR + 1], dropped[ERR + 1];
  struct limits limits;
  struct counters before;
  struct ending ending;
};

static struct call calls[MAX_CALLS];
static struct roll *roll;
/* Whether a shepherd was killed by a program: then what it kept may turn up here, one after another. */
static int has_lost;

static struct call *find_call(uint32_t channel) {
  for (size_t i = 0; i < MAX_CALLS; i++)
    if (calls[i].is_used && calls[i].channel == channel) return &calls[i];
  return NULL;
}

static void close_stream(struct call *call, int which) {
  if (call->fds[which] >= 0) close(call->fds[which]);
  call->fds[which] = -1;
}

static void refuse(uint32_t channel, int error) {
  unsigned char payload[56] = {0};
  put_u32(payload, END_NOT_STARTED);
  put_u32(payload + 4, (uint32_t)error);
  send_frame(SAY_EXIT, channel, payload, sizeof payload);
}

/* Six limits, the numbers of arguments and of variables, then the directory, arguments and variables, each ended by a 0. */
static int parse_program(const struct frame *f, struct program *out) {
  if (f->len <= TEXTS || f->data[f->len - 1] != 0) return 0;
  out->limits = (struct limits){get_u64(f->data),      get_u64(f->data + 8),  get_u64(f->data + 16),
                                get_u64(f->data + 24), get_u64(f->data + 32), get_u64(f->data + 40)};
  size_t argc = get_u32(f->data + 48), envc = get_u32(f->data + 52), strings = 0;
  for (size_t i = TEXTS; i < f->len; i++) strings += f->data[i] == 0;
  if (argc == 0 || argc > f->len || envc > f->len || strings != 1 + argc + envc) return 0;
  char *text = malloc(f->len - TEXTS);
  char **list = calloc(argc + envc + 2, sizeof *list);
  if (!text || !list) die("memory");
  memcpy(text, f->data + TEXTS, f->len - TEXTS);
  out->cwd = text;
  out->argv = list;
  out->env = list + argc + 1;
  for (size_t i = 0; i < argc + envc; i++) {
    text += strlen(text) + 1;
    list[i < argc ? i : i + 1] = text;
  }
  return 1;
}

/* In the shepherd: keeps only what is its own, so that no other call's stream is held open by it. */
static _Noreturn void become_shepherd(struct program *program, int report, int orders) {
  int kept[] = {program->in, program->out, program->err, report, orders};
  int base = 64 + 8 * MAX_CALLS + 2 * MAX_DOORS;
  for (int i = 0; i < 5; i++)
    if (dup3(kept[i], base + i, O_CLOEXEC) < 0) _exit(70);
  close(STDIN_FILENO), close(STDOUT_FILENO);
  close_between(3, base - 1);
  /* These stay taken, so that nothing else gets their numbers. */
  if (open("/dev/null", O_RDWR) < 0 || dup(0) < 0) _exit(70);
  for (int i = 0; i < 5; i++) fcntl(base + i, F_DUPFD_CLOEXEC, 10);
  close_between(base, base + 4);
  program->in = 10, program->out = 11, program->err = 12;
  run_shepherd(program, 13, 14, roll);
}

static int open_pipes(int pipes[5][2]) {
  for (int i = 0; i < 5; i++) {
    if (pipe2(pipes[i], O_CLOEXEC) == 0) continue;
    int error = errno;
    while (i-- > 0) close(pipes[i][0]), close(pipes[i][1]);
    return error;
  }
  return 0;
}

static void begin(struct call *call, struct program *program, int pipes[5][2]) {
  program->in = pipes[0][0], program->out = pipes[1][1], program->err = pipes[2][1];
  fcntl(pipes[4][0], F_SETFL, O_NONBLOCK);
  roll->changes++;
  call->shepherd = fork();
  if (call->shepherd == 0) become_shepherd(program, pipes[3][1], pipes[4][0]);
  roll->shepherds[call - calls] = call->shepherd;
  roll->changes++;
  close(pipes[0][0]), close(pipes[1][1]), close(pipes[2][1]), close(pipes[3][1]), close(pipes[4][0]);
  call->fds[IN] = pipes[0][1], call->fds[OUT] = pipes[1][0], call->fds[ERR] = pipes[2][0], call->fds[REPORT] = pipes[3][0];
  call->orders = pipes[4][1];
  for (int i = 0; i < STREAMS; i++) fcntl(call->fds[i], F_SETFL, O_NONBLOCK);
}

void start_call(const struct frame *f) {
  if (!roll) {
    roll = mmap(NULL, sizeof *roll, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (roll == MAP_FAILED) die("memory");
  }
  struct call *call = NULL;
  for (size_t i = 0; i < MAX_CALLS && !call; i++)
    if (!calls[i].is_used) call = &calls[i];
  struct program program;
  int pipes[5][2], error = 0;
  if (!call) return refuse(f->channel, EAGAIN);
  if (!parse_program(f, &program)) return refuse(f->channel, EINVAL);
  if ((error = open_pipes(pipes)) == 0) {
    uint64_t room = program.limits.output_bytes;
    *call = (struct call){.is_used = 1, .channel = f->channel, .room = {0, room, room}, .limits = program.limits, .before = read_counters()};
    begin(call, &program, pipes);
    if (call->shepherd < 0) {
      call->has_report = call->is_ended = 1;
      call->ending = (struct ending){.kind = END_NOT_STARTED, .value = EAGAIN};
    }
  }
  free(program.argv);
  free(program.cwd);
  if (error) refuse(f->channel, error);
}

static void flush_input(struct call *call) {
  ssize_t n = backlog_flush(&call->input, call->fds[IN]);
  if (n > 0) {
    unsigned char taken[4];
    put_u32(taken, (uint32_t)n);
    send_frame(SAY_WINDOW, call->channel, taken, sizeof taken);
  }
  int is_empty = call->input.at == call->input.len;
  if (n < 0 || (is_empty && call->closes_input)) close_stream(call, IN);
}

void feed_call(const struct frame *f) {
  struct call *call = find_call(f->channel);
  if (!call || call->fds[IN] < 0) return;
  if (f->type == DO_STDIN) backlog_add(&call->input, f->data, f->len);
  else call->closes_input = 1;
  flush_input(call);
}

static void order(struct call *call, unsigned char what) {
  /* A pipe that is full holds enough orders; and the shepherd need not finish its nap. */
  if (write(call->orders, &what, 1) == 1) kill(call->shepherd, SIGCHLD);
}

void signal_call(const struct frame *f) {
  struct call *call = find_call(f->channel);
  if (call && f->len == 4 && get_u32(f->data) < NSIG && get_u32(f->data) > 0) order(call, (unsigned char)get_u32(f->data));
}

/* Looked at here as well: a shepherd may not come to it any more, when its call keeps the processors busy. */
static void note_reached(struct call *call) {
  struct counters now = read_counters();
  uint64_t used;
  call->ending.reached |= look_at_disk(&used) | look_at_processes(&call->limits);
  if (now.oom_kills > call->before.oom_kills) call->ending.reached |= REACHED_MEMORY;
  if (now.pid_refusals > call->before.pid_refusals) call->ending.reached |= REACHED_PIDS;
}

void kill_call(uint32_t channel) {
  struct call *call = find_call(channel);
  if (!call) return;
  note_reached(call);
  order(call, KILL_ORDER);
}

void kill_everything(void) {
  kill(-1, SIGKILL);
}

void reap(void) {
  int has_strays = 0;
  for (pid_t pid; (pid = waitpid(-1, NULL, WNOHANG)) > 0;) {
    int is_known = 0;
    for (size_t i = 0; i < MAX_CALLS; i++)
      if (calls[i].is_used && calls[i].shepherd == pid) calls[i].is_ended = is_known = 1;
    has_strays |= !is_known;
  }
  if (has_strays && has_lost) kill_strays(roll);
}

/* True while there may be more at once. */
static int pass_on(struct call *call, int which) {
  static unsigned char bytes[CHUNK];
  ssize_t n = read(call->fds[which], bytes, sizeof bytes);
  if (n < 0) return 0;
  if (n == 0) {
    close_stream(call, which);
    return 0;
  }
  size_t kept = (uint64_t)n < call->room[which] ? (size_t)n : (size_t)call->room[which];
  call->room[which] -= kept;
  call->dropped[which] += (uint64_t)n - kept;
  if (kept > 0) send_frame(which == OUT ? SAY_STDOUT : SAY_STDERR, call->channel, bytes, kept);
  return 1;
}

/* The shepherd is gone, and with it everything that could still write. */
static void finish(struct call *call) {
  for (int which = OUT; which <= ERR; which++)
    for (int turns = 0; turns < 64 && call->fds[which] >= 0 && pass_on(call, which); turns++) continue;
  if (!call->has_report) {
    call->ending = (struct ending){.kind = END_SIGNALED, .value = SIGKILL, .reached = call->ending.reached};
    has_lost = 1;
    kill_strays(roll);
  }
  for (int which = 0; which < STREAMS; which++) close_stream(call, which);
  close(call->orders);
  backlog_free(&call->input);
  roll->shepherds[call - calls] = 0;
  call->is_used = 0;
  unsigned char payload[56];
  const struct ending *e = &call->ending;
  const uint32_t words[] = {e->kind, e->value, e->cause, e->reached};
  const uint64_t counts[] = {e->cpu_us, e->max_rss, e->disk_bytes, call->dropped[OUT], call->dropped[ERR]};
  for (int i = 0; i < 4; i++) put_u32(payload + 4 * i, words[i]);
  for (int i = 0; i < 5; i++) put_u64(payload + 16 + 8 * i, counts[i]);
  send_frame(SAY_EXIT, call->channel, payload, sizeof payload);
}

static void take_report(struct call *call) {
  struct ending ending;
  ssize_t n = read(call->fds[REPORT], &ending, sizeof ending);
  if (n < 0 && errno == EAGAIN) return;
  if (n == sizeof ending) {
    ending.reached |= call->ending.reached;
    call->ending = ending;
    call->has_report = 1;
  }
  close_stream(call, REPORT);
}

size_t poll_calls(struct pollfd *fds) {
  size_t count = 0;
  for (size_t i = 0; i < MAX_CALLS; i++)
    for (int which = 0; which < STREAMS; which++) {
      const struct call *call = &calls[i];
      int is_wanted = call->is_used && call->fds[which] >= 0;
      /* Without input to give it is still worth knowing that nobody will take any. */
      short events = which != IN ? POLLIN : call->input.at < call->input.len ? POLLOUT : 0;
      fds[count++] = (struct pollfd){.fd = is_wanted ? call->fds[which] : -1, .events = events};
    }
  return count;
}

void serve_calls(const struct pollfd *fds, size_t count) {
  for (size_t at = 0; at < count; at++) {
    struct call *call = &calls[at / STREAMS];
    int which = (int)(at % STREAMS);
    if (!fds[at].revents || !call->is_used || call->fds[which] != fds[at].fd) continue;
    if (which == IN) {
      if (fds[at].revents & POLLERR) close_stream(call, IN);
      else flush_input(call);
    } else if (which == REPORT) take_report(call);
    else pass_on(call, which);
  }
  for (size_t i = 0; i < MAX_CALLS; i++)
    if (calls[i].is_used && calls[i].is_ended && (calls[i].has_report || calls[i].fds[REPORT] < 0)) finish(&calls[i]);
}
