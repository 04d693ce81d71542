/* Hands damaged frames to the readers of the helper that stays: {u32 length, bytes} from standard input, each read in a
   process of its own. One letter for each: r read to its end, d refused, x neither. All of it happens in namespaces of its
   own, below an empty directory, since a damaged frame may ask for anything. */
#define _GNU_SOURCE
#include "../../native/serve.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CANNOT_TRY 77
#define PATIENCE_S 20

/* Plans have a test of their own: here a call ends as it begins. */
uint32_t door_sandbox, door_call;
bool drop_answers(void) { return true; }
int run_plan(struct owner guess, pid_t parent) {
  (void)guess;
  (void)parent;
  return 0;
}
void end_children(void) {}

static void write_map(const char *file, unsigned id) {
  FILE *map = fopen(file, "w");
  if (!map || fprintf(map, "0 %u 1", id) < 0 || fclose(map)) exit(CANNOT_TRY);
}

static void enter_arena(const char *place) {
  uid_t uid = geteuid();
  gid_t gid = getegid();
  if (unshare((uid ? CLONE_NEWUSER : 0) | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC)) exit(CANNOT_TRY);
  if (uid) {
    FILE *groups = fopen("/proc/self/setgroups", "w");
    if (!groups || fputs("deny", groups) < 0 || fclose(groups)) exit(CANNOT_TRY);
    write_map("/proc/self/uid_map", uid);
    write_map("/proc/self/gid_map", gid);
  }
  pid_t pid = fork();
  int status = 0;
  if (pid < 0) exit(CANNOT_TRY);
  if (pid) {
    waitpid(pid, &status, 0);
    exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
  }
  if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) || mount("arena", place, "tmpfs", 0, "size=16m") || chdir(place) || chroot(".")) exit(CANNOT_TRY);
  static const char *const directories[] = {"/workspace", "/tmp", "/run", "/run/code", "/dev", "/dev/pts", "/shown"};
  for (size_t i = 0; i < sizeof directories / sizeof *directories; i++)
    if (mkdir(directories[i], 0755)) exit(CANNOT_TRY);
}

static _Noreturn void be_helper(const char *what, int connection) {
  if (dup2(connection, PLAN_FD) < 0) _exit(1);
  unlink("/run/sandboxes");
  unlink("/run/channels");
  alarm(PATIENCE_S);
  if (unshare(CLONE_NEWNS)) _exit(1);
  if (!strcmp(what, "serve")) _exit(run_serve());
  signal(SIGPIPE, SIG_IGN); /* as it has it from whom it is forked by */
  run_holder((struct holder_start){PLAN_FD, -1, -1});
}

static char read_one(const char *what, const char *bytes, uint32_t len) {
  int pair[2], status = 0;
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || send(pair[0], bytes, len, 0) != (ssize_t)len) exit(1);
  shutdown(pair[0], SHUT_WR);
  pid_t pid = fork();
  if (!pid) be_helper(what, pair[1]);
  close(pair[1]);
  waitpid(pid, &status, 0);
  close(pair[0]);
  if (!WIFEXITED(status) || (WEXITSTATUS(status) && WEXITSTATUS(status) != 125)) return 'x';
  return WEXITSTATUS(status) ? 'd' : 'r';
}

int main(int argc, char **argv) {
  uint32_t len;
  if (argc != 3) return 2;
  enter_arena(argv[2]);
  while (fread(&len, sizeof len, 1, stdin) == 1) {
    char *bytes = malloc(len + 1u);
    if (!bytes || fread(bytes, 1, len, stdin) != len) return 1;
    char letter = read_one(argv[1], bytes, len);
    putchar(letter);
    fflush(stdout);
    free(bytes);
  }
  struct rusage used;
  getrusage(RUSAGE_CHILDREN, &used);
  printf("\n%ld\n", used.ru_maxrss);
  return 0;
}
