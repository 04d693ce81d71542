/* What this host offers, found out by doing: each line is `name errno`, 0 for available. */
#define _GNU_SOURCE
#include "assay.h"
#include "uapi.h"

#include <errno.h>
#include <linux/filter.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static int try_namespaces(unsigned long flags, int (*inside)(void)) {
  pid_t pid = (pid_t)syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
  int status;
  if (pid < 0) return errno;
  if (!pid) _exit(inside ? inside() : 0);
  if (waitpid(pid, &status, 0) < 0) return errno;
  return WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
}

static int mount_something(void) {
  if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL)) return errno;
  if (mount("assay", "/tmp", "tmpfs", 0, "size=4k")) return errno;
  struct mount_attr_abi attr = {.attr_set = MOUNT_ATTR_RDONLY_};
  return syscall(SYS_mount_setattr, -100, "/", AT_RECURSIVE_, &attr, sizeof attr) ? errno : 0;
}

static int mount_proc_inside(void) {
  if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL)) return errno;
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

int run_probe(void) {
  unsigned long user = CLONE_NEWUSER;
  long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LL_CREATE_RULESET_VERSION);
  printf("landlock_abi %ld\nlandlock %d\n", abi < 0 ? 0 : abi, abi < 0 ? errno : 0);
  printf("user %d\n", try_namespaces(user, NULL));
  printf("mount %d\n", try_namespaces(user | CLONE_NEWNS, mount_something));
  printf("pid %d\n", try_namespaces(user | CLONE_NEWNS | CLONE_NEWPID, mount_proc_inside));
  printf("ipc %d\n", try_namespaces(user | CLONE_NEWIPC, NULL));
  printf("net %d\n", try_namespaces(user | CLONE_NEWNET, NULL));
  printf("nft %d\n", try_namespaces(user | CLONE_NEWNET, probe_doors));
  printf("seccomp %d\n", try_namespaces(0, filter_inside));
  printf("notify %d\n", try_namespaces(0, listener_inside));
  return 0;
}
