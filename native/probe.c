/* What this host offers, found out by doing: each line is `name errno`, 0 for available. */
#define _GNU_SOURCE
#include "assay.h"
#include "uapi.h"

#include <errno.h>
#include <linux/filter.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* What fails on the way into them, as the launch goes it. */
static void end_with_errno(const char *line) {
  const char *number = strstr(line, "\"errno\":");
  _exit(number && atoi(number + 8) ? atoi(number + 8) : EIO);
}

static int try_namespaces(uint32_t kinds, int (*inside)(void)) {
  struct owner owner = {kinds, getuid(), getgid()};
  pid_t pid = (pid_t)syscall(SYS_clone, clone_flags(kinds) | SIGCHLD, 0, 0, 0, 0);
  int status;
  if (pid < 0) return errno;
  if (!pid) {
    failure_hook = end_with_errno;
    enter_namespaces(owner);
    _exit(inside ? inside() : 0);
  }
  if (waitpid(pid, &status, 0) < 0) return errno;
  return WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
}

static int mount_something(void) {
  if (mount("assay", "/tmp", "tmpfs", 0, "size=4k")) return errno;
  struct mount_attr_abi attr = {.attr_set = MOUNT_ATTR_RDONLY_};
  return syscall(SYS_mount_setattr, -100, "/", AT_RECURSIVE_, &attr, sizeof attr) ? errno : 0;
}

static int mount_proc_inside(void) {
  return mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) ? errno : 0;
}

static int install(unsigned long flags) {
  struct sock_filter allow[] = {{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
  struct sock_fprog program = {1, allow};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return errno;
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program) < 0 ? errno : 0;
}

static int filter_inside(void) { return install(0); }
static int listener_inside(void) {
  return install(SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV);
}

#define UNCOPIED 128 /* no errno that a call has is as high */

/* As the broker does it, which has no capability left, with a program. */
static int look_into_child(void) {
  drop_capabilities();
  pid_t child = fork();
  if (child < 0) return errno;
  if (!child) prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0), pause();
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  int unread = try_reading(child), uncopied = try_copying(child, STDOUT_FILENO);
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  return unread ? unread : uncopied ? UNCOPIED | uncopied : 0;
}

/* Each by itself, and only with what the launch would have it with: one that is missing is not the fault of another. Root
   needs no user namespace for the others. */
static void probe_namespaces(void) {
  int user = try_namespaces(NS_USER, NULL);
  uint32_t base = user && geteuid() == 0 ? 0 : NS_USER;
  int mounting = try_namespaces(base | NS_MOUNT, mount_something);
  printf("user %d\nmount %d\n", user, mounting);
  printf("pid %d\n", mounting ? try_namespaces(base | NS_PID, NULL) : try_namespaces(base | NS_MOUNT | NS_PID, mount_proc_inside));
  printf("ipc %d\n", try_namespaces(base | NS_IPC, NULL));
  printf("net %d\n", try_namespaces(base | NS_NET, NULL));
  printf("nft %d\n", try_namespaces(base | NS_NET, probe_doors));
}

int run_probe(void) {
  long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LL_CREATE_RULESET_VERSION);
  printf("landlock_abi %ld\nlandlock %d\n", abi < 0 ? 0 : abi, abi < 0 ? errno : 0);
  probe_namespaces();
  printf("seccomp %d\n", try_namespaces(0, filter_inside));
  printf("notify %d\n", try_namespaces(0, listener_inside));
  int found = try_namespaces(0, look_into_child), code = found & ~UNCOPIED;
  printf("memory %d\ndescriptors %d\n", found & UNCOPIED ? 0 : code, code);
  return 0;
}
