/* Programs that the host has asked for, from their start to the end of everything that they have started. */
#define _GNU_SOURCE
#include "agent.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define CPU_TICK_MS 10
#define TICK_MS 100
#define END_TICK_MS 3

enum ended_by { BY_ITSELF, BY_MEMORY, BY_CPU, BY_WALL, BY_HOST };
enum reached { REACHED_PIDS = 1, REACHED_DISK = 2, REACHED_INODES = 4, REACHED_OUTPUT = 8 };

struct output {
  int fd;
  uint32_t type;
  uint64_t sent, dropped;
};

struct call {
  bool is_used, is_reaped, is_ending, has_input_end;
  uint32_t id, ended_by, reached;
  pid_t pid;
  int status, in, report;
  struct output outputs[2];
  char group[32];
  struct limits limits;
  uint64_t deadline_ms;
  unsigned char *input;
  size_t input_size;
};

static struct call calls[MAX_CALLS];

static struct call *find(uint32_t id) {
  for (size_t i = 0; i < MAX_CALLS; i++)
    if (calls[i].is_used && calls[i].id == id) return &calls[i];
  return NULL;
}

static void close_fd(int *fd) {
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

/* A list of texts, each with its length before it; the lengths are overwritten by the ends of the texts before. */
static char **take_texts(struct reader *payload) {
  uint32_t count = take32(payload);
  if (payload->is_bad || count > MAX_PAYLOAD / 4) return NULL;
  char **texts = calloc(count + 1, sizeof *texts);
  for (uint32_t i = 0; texts && i < count; i++) {
    uint32_t size = take32(payload);
    const unsigned char *bytes = take_bytes(payload, size);
    texts[i] = bytes && !memchr(bytes, 0, size) ? strndup((const char *)bytes, size) : NULL;
    if (!texts[i]) payload->is_bad = true;
  }
  return texts;
}

static void free_texts(char **texts) {
  for (char **at = texts; at && *at; at++) free(*at);
  free(texts);
}

static void take_limits(struct reader *payload, struct limits *limits) {
  uint64_t *const fields[] = {&limits->memory_bytes, &limits->pids,   &limits->cpu_quota_us, &limits->cpu_us,      &limits->wall_ms,
                              &limits->disk_bytes,   &limits->inodes, &limits->open_files,   &limits->output_bytes};
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) *fields[i] = take64(payload);
}

/* The files of all calls are the same, so the least that one of them may use holds. */
static void settle_disk(const struct box *box) {
  uint64_t bytes = box->disk_bytes, inodes = box->inodes;
  for (size_t i = 0; i < MAX_CALLS; i++) {
    if (!calls[i].is_used) continue;
    if (calls[i].limits.disk_bytes < bytes) bytes = calls[i].limits.disk_bytes;
    if (calls[i].limits.inodes < inodes) inodes = calls[i].limits.inodes;
  }
  resize_box(bytes, inodes);
}

/* The ends of its pipes that are ours. */
static void take_pipes(struct call *call, int in, int out, int err) {
  call->in = in;
  call->outputs[0] = (struct output){.fd = out, .type = ANS_STDOUT};
  call->outputs[1] = (struct output){.fd = err, .type = ANS_STDERR};
  fcntl(in, F_SETFL, O_NONBLOCK);
  fcntl(out, F_SETFL, O_NONBLOCK);
  fcntl(err, F_SETFL, O_NONBLOCK);
}

static int start_new(struct call *call, char **argv, char **env, const char *cwd) {
  int in[2], out[2], err[2], report[2];
  if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC) || pipe2(report, O_CLOEXEC)) die("pipes");
  int group = group_entry(call->group);
  struct start start = {.argv = argv, .env = env, .cwd = cwd, .in = in[0], .out = out[1], .err = err[1], .group = group, .report = report[1], .control = -1, .open_files = call->limits.open_files};
  call->pid = group < 0 ? -1 : fork();
  int error = errno;
  if (call->pid == 0) become_program(&start);
  close(in[0]);
  close(out[1]);
  close(err[1]);
  close(report[1]);
  if (group >= 0) close(group);
  take_pipes(call, in[1], out[0], err[0]);
  call->report = report[0];
  fcntl(report[0], F_SETFL, O_NONBLOCK);
  return call->pid < 0 ? error : 0;
}

/* Gives an interpreter that waits the limits of the call, and then the program. */
static int start_warm(struct call *call, const struct warm_program *process, char **argv, char **env, const char *cwd) {
  struct rlimit files = {call->limits.open_files, call->limits.open_files};
  int group = group_entry(call->group);
  call->pid = process->pid;
  take_pipes(call, process->in, process->out, process->err);
  int error = group < 0 || dprintf(group, "%d", process->pid) < 0 ? errno : 0;
  if (group >= 0) close(group);
  if (!error && files.rlim_cur && prlimit(process->pid, RLIMIT_NOFILE, &files, NULL)) error = errno;
  /* One that has died meanwhile is reaped as the call's, which then has ended by a signal. */
  if (error && error != ESRCH) return error;
  warm_become(process, argv, env, cwd);
  return 0;
}

static int start_program(struct call *call, char **argv, char **env, const char *cwd) {
  struct warm_program process;
  if (group_make(call->group, &call->limits)) return errno;
  bool is_warm = warm_take(argv, env, cwd, &process);
  warm_dismiss();
  return is_warm ? start_warm(call, &process, argv, env, cwd) : start_new(call, argv, env, cwd);
}

static void forget(struct call *call) {
  close_fd(&call->in);
  close_fd(&call->outputs[0].fd);
  close_fd(&call->outputs[1].fd);
  close_fd(&call->report);
  free(call->input);
  group_remove(call->group);
  memset(call, 0, sizeof *call);
}

void call_start(uint32_t id, struct reader *payload, const struct box *box) {
  struct call *call = NULL;
  for (size_t i = 0; i < MAX_CALLS && !call; i++)
    if (!calls[i].is_used) call = &calls[i];
  if (!call || find(id) || !box->is_ready) return send_done(id, call ? EINVAL : EAGAIN, NULL, 0);
  *call = (struct call){.is_used = true, .id = id, .in = -1, .outputs = {{.fd = -1}, {.fd = -1}}, .report = -1};
  snprintf(call->group, sizeof call->group, "box/%u", id);
  take_limits(payload, &call->limits);
  char **cwd = take_texts(payload), **argv = take_texts(payload), **env = take_texts(payload);
  call->input = malloc(WINDOW);
  int error = 0;
  if (!call->input || !cwd || !argv || !env || payload->is_bad || payload->left || !cwd[0] || !argv[0]) error = EINVAL;
  if (!error) settle_disk(box);
  if (!error) error = start_program(call, argv, env, cwd[0]);
  if (!error && call->limits.wall_ms) call->deadline_ms = now_ms() + call->limits.wall_ms;
  free_texts(cwd);
  free_texts(argv);
  free_texts(env);
  if (error) forget(call);
  send_done(id, error, NULL, 0);
}

static void end_call(struct call *call, uint32_t ended_by) {
  if (call->is_ending) return;
  call->is_ending = true;
  call->ended_by = ended_by;
  group_kill(call->group);
}

void call_kill(uint32_t id) {
  struct call *call = find(id);
  if (call) end_call(call, BY_HOST);
}

void call_signal(uint32_t id, int number) {
  struct call *call = find(id);
  if (call && !call->is_reaped && number > 0 && number < 65) kill(call->pid, number);
}

void call_input(uint32_t id, struct reader *payload) {
  struct call *call = find(id);
  if (!call) return; /* it has ended meanwhile */
  if (payload->left > WINDOW - call->input_size || call->has_input_end) die("input beyond what was granted");
  memcpy(call->input + call->input_size, payload->at, payload->left);
  call->input_size += payload->left;
  /* Whoever writes to a program that does not listen any more must not wait for ever. */
  if (call->in < 0) {
    send_number(ANS_CREDIT, id, (uint32_t)call->input_size);
    call->input_size = 0;
  }
}

void call_input_end(uint32_t id) {
  struct call *call = find(id);
  if (!call) return;
  call->has_input_end = true;
  if (call->input_size == 0) close_fd(&call->in);
}

void call_reap(pid_t pid, int status) {
  for (size_t i = 0; i < MAX_CALLS; i++) {
    struct call *call = &calls[i];
    if (!call->is_used || call->is_reaped || call->pid != pid) continue;
    call->is_reaped = true;
    call->status = status;
    /* What the program has left behind does not outlive it. */
    end_call(call, BY_ITSELF);
  }
}

static void feed(struct call *call) {
  ssize_t put = write(call->in, call->input, call->input_size);
  if (put < 0 && (errno == EAGAIN || errno == EINTR)) return;
  size_t gone = put < 0 ? call->input_size : (size_t)put;
  if (put < 0) close_fd(&call->in);
  memmove(call->input, call->input + gone, call->input_size - gone);
  call->input_size -= gone;
  send_number(ANS_CREDIT, call->id, (uint32_t)gone);
  if (call->input_size == 0 && call->has_input_end) close_fd(&call->in);
}

static void drain(struct call *call, struct output *output) {
  static unsigned char bytes[CHUNK];
  ssize_t got = read(output->fd, bytes, sizeof bytes);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) return close_fd(&output->fd);
  uint64_t room = call->limits.output_bytes - output->sent;
  size_t kept = (uint64_t)got < room ? (size_t)got : (size_t)room;
  output->sent += kept;
  output->dropped += (uint64_t)got - kept;
  if (kept < (size_t)got) call->reached |= REACHED_OUTPUT;
  if (kept) send_frame(output->type, call->id, NULL, 0, bytes, kept);
}

size_t calls_poll(struct pollfd *polled, size_t at) {
  for (size_t i = 0; i < MAX_CALLS; i++) {
    const struct call *call = &calls[i];
    bool has_room = call->is_used && channel_has_room();
    polled[at++] = (struct pollfd){.fd = call->is_used && call->input_size && call->in >= 0 ? call->in : -1, .events = POLLOUT};
    for (int n = 0; n < 2; n++) polled[at++] = (struct pollfd){.fd = has_room ? call->outputs[n].fd : -1, .events = POLLIN};
  }
  return at;
}

size_t calls_serve(const struct pollfd *polled, size_t at) {
  for (size_t i = 0; i < MAX_CALLS; i++) {
    struct call *call = &calls[i];
    /* Meanwhile the descriptor may have been closed, and its number given away. */
    if (call->is_used && polled[at].revents && polled[at].fd == call->in && call->input_size) feed(call);
    at++;
    for (int n = 0; n < 2; n++, at++)
      if (call->is_used && polled[at].revents && polled[at].fd == call->outputs[n].fd && channel_has_room()) drain(call, &call->outputs[n]);
  }
  return at;
}

int calls_wait_ms(void) {
  int wait = -1;
  for (size_t i = 0; i < MAX_CALLS; i++) {
    if (!calls[i].is_used) continue;
    int own = calls[i].is_ending ? END_TICK_MS : calls[i].limits.cpu_us ? CPU_TICK_MS : TICK_MS;
    if (wait < 0 || own < wait) wait = own;
  }
  return wait;
}

static void send_exit(struct call *call, uint64_t disk_bytes) {
  uint32_t failed[2] = {0, 0};
  bool is_unstarted = read(call->report, failed, sizeof failed) == sizeof failed;
  if (call->ended_by == BY_ITSELF && group_number(call->group, "memory.events", "oom_kill")) call->ended_by = BY_MEMORY;
  if (group_number(call->group, "pids.events", "max")) call->reached |= REACHED_PIDS;
  uint32_t how = is_unstarted ? 2 : WIFSIGNALED(call->status) ? 1 : 0;
  uint32_t value = is_unstarted ? failed[1] : how ? (uint32_t)WTERMSIG(call->status) : (uint32_t)WEXITSTATUS(call->status);
  uint32_t words[6] = {how, value, failed[0], call->ended_by, call->reached, 0};
  uint64_t amounts[5] = {group_number(call->group, "cpu.stat", "usage_usec"), group_number(call->group, "memory.peak", NULL), disk_bytes,
                         call->outputs[0].dropped, call->outputs[1].dropped};
  send_frame(ANS_EXIT, call->id, words, sizeof words, amounts, sizeof amounts);
}

void calls_tick(const struct box *box) {
  bool is_full = false, has_no_inodes = false, has_ended = false;
  uint64_t bytes = 0, inodes, now = now_ms();
  if (box->is_ready) box_usage(&bytes, &inodes, &is_full, &has_no_inodes);
  for (size_t i = 0; i < MAX_CALLS; i++) {
    struct call *call = &calls[i];
    if (!call->is_used) continue;
    call->reached |= (is_full ? REACHED_DISK : 0) | (has_no_inodes ? REACHED_INODES : 0);
    if (call->limits.cpu_us && !call->is_ending && group_number(call->group, "cpu.stat", "usage_usec") > call->limits.cpu_us) end_call(call, BY_CPU);
    if (call->deadline_ms && now >= call->deadline_ms) end_call(call, BY_WALL);
    bool is_silent = call->outputs[0].fd < 0 && call->outputs[1].fd < 0;
    if (!call->is_reaped || !is_silent || !channel_has_room() || !group_is_empty(call->group)) continue;
    send_exit(call, bytes);
    forget(call);
    has_ended = true;
  }
  if (has_ended) settle_disk(box);
}
