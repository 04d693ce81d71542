/* Between fork and exec: from the agent, which may do everything, to a program that may do little. */
#define _GNU_SOURCE
#include "agent.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Says which step failed, and why. */
static _Noreturn void give_up(int report, uint32_t step) {
  uint32_t said[2] = {step, (uint32_t)errno};
  ssize_t ignored = write(report, said, sizeof said);
  (void)ignored;
  _exit(127);
}

static void reset_signals(void) {
  sigset_t none;
  sigemptyset(&none);
  for (int number = 1; number < 65; number++) signal(number, SIG_DFL);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

static int give_up_rights(void) {
  /* Capabilities that are not in the bounding set cannot come back by any file. */
  for (unsigned long cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
    if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0)) return -1;
  if (setgroups(0, NULL) || setresgid(CODE_GID, CODE_GID, CODE_GID) || setresuid(CODE_UID, CODE_UID, CODE_UID)) return -1;
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct none[2] = {{0}, {0}};
  if (syscall(SYS_capset, &header, none)) return -1;
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

_Noreturn void become_program(const struct start *start) {
  struct rlimit files = {start->open_files, start->open_files}, no_core = {0, 0};
  if (setsid() < 0 || write(start->group, "0", 1) != 1) give_up(start->report, 1);
  if (dup2(start->in, 0) < 0 || dup2(start->out, 1) < 0 || dup2(start->err, 2) < 0) give_up(start->report, 1);
  if (start->control >= 0 && dup2(start->control, 3) < 0) give_up(start->report, 1);
  if (setrlimit(RLIMIT_CORE, &no_core)) give_up(start->report, 1);
  reset_signals();
  umask(022);
  if (give_up_rights()) give_up(start->report, 1);
  if (chdir(start->cwd)) give_up(start->report, 2);
  if (start->open_files && setrlimit(RLIMIT_NOFILE, &files)) give_up(start->report, 1);
  environ = start->env;
  execvp(start->argv[0], start->argv);
  give_up(start->report, 3);
}
