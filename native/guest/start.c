/* From the kernel's first process in the initramfs to a guest with a root of its own, which nobody can write to. */
#define _GNU_SOURCE
#include "agent.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define QUIET (MS_NOSUID | MS_NODEV | MS_NOEXEC)

/* The host takes the end of the machine for what it is; the line is for whoever watches the console. */
_Noreturn void die(const char *what) {
  dprintf(2, "agent: cannot go on: %s: %s\n", what, strerror(errno));
  reboot(RB_AUTOBOOT);
  _exit(1);
}

/* The drivers of the machine, in the order in which they need each other. */
static void load_drivers(void) {
  char line[256], path[512];
  FILE *list = fopen("/modules/order", "re");
  if (!list) die("/modules/order");
  while (fgets(line, sizeof line, list)) {
    line[strcspn(line, "\n")] = 0;
    snprintf(path, sizeof path, "/modules/%s", line);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || (syscall(SYS_finit_module, fd, "", 0) && errno != EEXIST)) die(path);
    close(fd);
  }
  fclose(list);
}

static void make_devices(void) {
  static const struct {
    const char *name;
    int major, minor;
  } devices[] = {{"null", 1, 3}, {"zero", 1, 5}, {"full", 1, 7}, {"random", 1, 8}, {"urandom", 1, 9}, {"tty", 5, 0}};
  char path[64];
  umask(0);
  /* No disk, no memory, no port: only what every program expects to find. */
  if (mount("dev", ROOT_MOUNT "/dev", "tmpfs", MS_NOSUID | MS_NOEXEC, "size=64k,nr_inodes=64,mode=0755")) die("/dev");
  for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
    snprintf(path, sizeof path, ROOT_MOUNT "/dev/%s", devices[i].name);
    if (mknod(path, S_IFCHR | 0666, makedev((unsigned)devices[i].major, (unsigned)devices[i].minor))) die(path);
  }
  if (mkdir(ROOT_MOUNT "/dev/pts", 0755) || mkdir(ROOT_MOUNT "/dev/shm", 01777) || symlink("pts/ptmx", ROOT_MOUNT "/dev/ptmx") ||
      symlink("/proc/self/fd", ROOT_MOUNT "/dev/fd") || symlink("/proc/self/fd/0", ROOT_MOUNT "/dev/stdin") ||
      symlink("/proc/self/fd/1", ROOT_MOUNT "/dev/stdout") || symlink("/proc/self/fd/2", ROOT_MOUNT "/dev/stderr"))
    die("devices");
  if (mount("devpts", ROOT_MOUNT "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620")) die("/dev/pts");
  umask(022);
}

static void tune(const char *name, const char *value) {
  char path[128];
  snprintf(path, sizeof path, "/proc/sys/%s", name);
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0 || write(fd, value, strlen(value)) < 0) die(path);
  close(fd);
}

/* Less of the guest's kernel for code to try its luck on. */
static void close_kernel(void) {
  tune("user/max_user_namespaces", "0");
  tune("kernel/unprivileged_bpf_disabled", "1");
  tune("kernel/perf_event_paranoid", "3");
  tune("kernel/kptr_restrict", "2");
  tune("kernel/dmesg_restrict", "1");
  tune("kernel/yama/ptrace_scope", "1");
  tune("fs/protected_symlinks", "1");
  tune("fs/protected_hardlinks", "1");
  tune("kernel/core_pattern", "|/bin/false");
  tune("kernel/modules_disabled", "1");
}

static void raise_loopback(void) {
  struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &request)) die("loopback");
  close(fd);
}

/* Standard input, output and errors lead to the console, so that no descriptor of ours gets one of their numbers. */
static void open_console(void) {
  int fd = open("/dev/console", O_RDWR);
  if (fd < 0) fd = open("/dev/null", O_RDWR);
  while (fd >= 0 && fd < 2) fd = dup(fd);
  if (fd > 2) close(fd); /* the kernel has opened all three already */
}

void start_guest(void) {
  mkdir("/dev", 0755);
  mkdir(ROOT_MOUNT, 0755);
  if (mount("dev", "/dev", "devtmpfs", 0, NULL) && errno != EBUSY) die("/dev");
  open_console();
  load_drivers();
  channel_open();
  int tries = 0;
  while (mount("/dev/vda", ROOT_MOUNT, "erofs", MS_RDONLY | MS_NOSUID | MS_NODEV, NULL)) {
    if (errno != ENOENT || ++tries > 500) die("root");
    usleep(10 * 1000);
  }
}

void enter_root(void) {
  struct rlimit files = {4096, 4096};
  make_devices();
  if (mount("proc", ROOT_MOUNT "/proc", "proc", QUIET, "hidepid=invisible")) die("/proc");
  if (mount("run", ROOT_MOUNT "/run", "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,nr_inodes=256,mode=0755")) die("/run");
  if (chdir(ROOT_MOUNT) || mount(".", "/", NULL, MS_MOVE, NULL) || chroot(".") || chdir("/")) die("root");
  if (mkdir(PRIVATE, 0700) || mkdir(BOX, 0755) || mkdir(CODE, 0755)) die("/run");
  if (mount("code", CODE, "tmpfs", MS_NOSUID | MS_NODEV, "size=64m,nr_inodes=4096,mode=0755")) die(CODE);
  if (setrlimit(RLIMIT_NOFILE, &files)) die("open files");
  if (sethostname("sandbox", 7)) die("host name");
  raise_loopback();
  close_kernel();
  groups_start();
}
