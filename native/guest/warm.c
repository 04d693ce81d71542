/*
 * Interpreters take long to start where the processor is emulated. So Python is started before the snapshot is taken, and
 * waits; the first call of a sandbox, if it runs a program in the plainest way, gets it. With any other first call it is
 * ended, and later calls start their own: no interpreter ever runs two programs, or waits beside one.
 *
 * Node does not wait: it seeds its random numbers, those for keys included, when it starts, and cannot be told to do so
 * again. All guests of one snapshot would draw the same. Python draws from the kernel, which is seeded anew.
 */
#define _GNU_SOURCE
#include "agent.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define GROUP "waiting" /* not below the sandbox's: what waits is not a part of any call */

/* What the host gives when nobody asks for anything else; what waits was started with it. */
static char *const environment[] = {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/home", "TMPDIR=/tmp", "LANG=C.UTF-8", NULL};

/* Variables that an interpreter or its libraries read when they start. */
static const char *const early[] = {"PYTHON", "NODE", "LD_", "LC_", "LANGUAGE", "MALLOC_", "GLIBC_", "TZ", "OPENSSL_", "SSL_", "UV_"};

static struct interpreter {
  const char *name, *command;
  char *version[4], *waiting[3];
  struct warm_program process;
} interpreters[] = {
    {"python", "python3", {"python3", "-c", "import json,re,subprocess,socket,hashlib,random,platform;print(platform.python_version())", NULL}, {"python3", "/usr/lib/assay/warm.py", NULL}, {0}},
    {"javascript", "node", {"node", "-p", "require('child_process');process.versions.node", NULL}, {NULL}, {0}},
    {"bash", "bash", {"bash", "-c", "echo ${BASH_VERSION%%(*}; ls / >/dev/null; cat /dev/null", NULL}, {NULL}, {0}},
};
#define INTERPRETERS (sizeof interpreters / sizeof *interpreters)

/* Starts one; its end of `control` becomes descriptor 3 where there is one. */
static pid_t start(char *const argv[], int in, int out, int err, int control) {
  int group = group_entry(GROUP), report = open("/dev/null", O_WRONLY | O_CLOEXEC);
  struct start plan = {.argv = (char **)argv, .env = (char **)environment, .cwd = "/", .in = in, .out = out, .err = err, .group = group, .report = report, .control = control};
  pid_t pid = fork();
  if (pid < 0 || group < 0 || report < 0) die("warm-up");
  if (pid == 0) become_program(&plan);
  close(group);
  close(report);
  return pid;
}

/* The first line that it prints; nothing where there is no such program. */
static void ask_version(char *const argv[], char *out, size_t cap) {
  int pipes[2], null = open("/dev/null", O_RDWR | O_CLOEXEC), status;
  size_t have = 0;
  if (pipe2(pipes, O_CLOEXEC)) die("warm-up");
  pid_t pid = start(argv, null, pipes[1], null, -1);
  close(pipes[1]);
  for (ssize_t got; have < cap - 1 && (got = read(pipes[0], out + have, cap - 1 - have)) > 0;) have += (size_t)got;
  close(pipes[0]);
  close(null);
  if (waitpid(pid, &status, 0) != pid) die("wait");
  out[WIFEXITED(status) && WEXITSTATUS(status) == 0 ? have : 0] = 0;
  out[strcspn(out, "\n")] = 0;
}

static void close_program(struct warm_program *process) {
  close(process->in);
  close(process->out);
  close(process->err);
  close(process->control);
  process->pid = 0;
}

static void make_wait(struct interpreter *one) {
  int in[2], out[2], err[2], control[2];
  char ready;
  if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC) || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, control)) die("warm-up");
  pid_t pid = start(one->waiting, in[0], out[1], err[1], control[1]);
  close(in[0]);
  close(out[1]);
  close(err[1]);
  close(control[1]);
  one->process = (struct warm_program){.pid = pid, .in = in[1], .out = out[0], .err = err[0], .control = control[0]};
  if (read(control[0], &ready, 1) != 1) close_program(&one->process);
}

void warm_up(void) {
  char text[1024] = "", line[256];
  struct limits none = {0};
  if (group_make(GROUP, &none)) die("warm-up");
  for (size_t i = 0; i < INTERPRETERS; i++) {
    size_t used = strlen(text);
    ask_version(interpreters[i].version, line, sizeof line);
    if (!*line) continue;
    snprintf(text + used, sizeof text - used, "%s %s\n", interpreters[i].name, line);
    if (interpreters[i].waiting[0]) make_wait(&interpreters[i]);
  }
  uint32_t version = PROTOCOL;
  send_frame(ANS_HELLO, 0, &version, sizeof version, text, strlen(text));
}

static bool is_early(const char *variable) {
  for (size_t i = 0; i < sizeof early / sizeof *early; i++)
    if (!strncmp(variable, early[i], strlen(early[i]))) return true;
  return false;
}

/* Whether every variable that was there when it started is there still, and none that would have mattered then. */
static bool is_same_environment(char *const env[]) {
  for (size_t i = 0; environment[i]; i++) {
    bool is_there = false;
    for (char *const *at = env; *at; at++) is_there |= !strcmp(*at, environment[i]);
    if (!is_there) return false;
  }
  for (char *const *at = env; *at; at++)
    if (is_early(*at)) return false;
  return true;
}

static bool is_readable(const struct stat *about) {
  return about->st_uid == CODE_UID ? about->st_mode & S_IRUSR : about->st_mode & S_IROTH;
}

/* What would not work is left to an interpreter of its own, which says so in its own words. */
static bool is_plain(char *const argv[], char *const env[], const char *cwd) {
  struct stat about;
  if (!argv[1] || argv[1][0] == '-' || !is_same_environment(env)) return false;
  int top = open(cwd, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (top < 0) return false;
  bool is_good = fstat(top, &about) == 0 && is_readable(&about) && about.st_mode & S_IXUSR;
  is_good = is_good && fstatat(top, argv[1], &about, 0) == 0 && S_ISREG(about.st_mode) && is_readable(&about);
  close(top);
  return is_good;
}

static void say(int fd, const char *text) {
  for (size_t left = strlen(text) + 1; left;) {
    ssize_t put = send(fd, text, left, MSG_NOSIGNAL);
    if (put < 0) return; /* it has ended: the call hears of that */
    text += put;
    left -= (size_t)put;
  }
}

bool warm_take(char *const argv[], char *const env[], const char *cwd, struct warm_program *taken) {
  for (size_t i = 0; i < INTERPRETERS; i++) {
    struct interpreter *one = &interpreters[i];
    if (!one->process.pid || strcmp(argv[0], one->command) || !is_plain(argv, env, cwd)) continue;
    *taken = one->process;
    one->process.pid = 0;
    return true;
  }
  return false;
}

void warm_become(const struct warm_program *process, char *const argv[], char *const env[], const char *cwd) {
  char count[24];
  size_t arguments = 0;
  while (argv[arguments]) arguments++;
  snprintf(count, sizeof count, "%zu", arguments);
  say(process->control, cwd);
  say(process->control, count);
  for (size_t i = 0; argv[i]; i++) say(process->control, argv[i]);
  for (size_t i = 0; env[i]; i++) say(process->control, env[i]);
  close(process->control);
}

void warm_dismiss(void) {
  for (size_t i = 0; i < INTERPRETERS; i++) {
    if (!interpreters[i].process.pid) continue;
    kill(interpreters[i].process.pid, SIGKILL);
    close_program(&interpreters[i].process);
  }
}
