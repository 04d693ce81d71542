/* The kernel's layers, applied in the order of the plan: namespaces, mounts, capabilities, Landlock. */
#define _GNU_SOURCE
#include "assay.h"
#include "uapi.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static void write_file(const char *path, const char *text) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0 || write(fd, text, strlen(text)) < 0) die_errno("user", path);
  close(fd);
}

void bring_up_loopback(void) {
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  struct ifreq request = {.ifr_name = "lo"};
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &request)) die_errno("net", "loopback");
  close(fd);
}

unsigned long clone_flags(uint32_t kinds) {
  return (kinds & NS_USER ? CLONE_NEWUSER : 0) | (kinds & NS_MOUNT ? CLONE_NEWNS : 0) | (kinds & NS_PID ? CLONE_NEWPID : 0) |
         (kinds & NS_IPC ? CLONE_NEWIPC : 0) | (kinds & NS_NET ? CLONE_NEWNET : 0);
}

/* Runs in the new process: the clone flags made the namespaces, this maps the ids and readies them. */
void enter_namespaces(struct owner owner) {
  char map[64];
  if (owner.namespaces & NS_USER) {
    write_file("/proc/self/setgroups", "deny");
    snprintf(map, sizeof map, "%u %u 1", owner.uid, owner.uid);
    write_file("/proc/self/uid_map", map);
    snprintf(map, sizeof map, "%u %u 1", owner.gid, owner.gid);
    write_file("/proc/self/gid_map", map);
  }
  if (owner.namespaces & NS_NET) bring_up_loopback();
  if (owner.namespaces & NS_MOUNT && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL)) die_errno("mount", "/");
}

static void set_mount_attr(int fd, const char *path, unsigned flags, uint64_t set) {
  struct mount_attr_abi attr = {.attr_set = set};
  if (syscall(SYS_mount_setattr, fd, path, flags, &attr, sizeof attr)) die_errno("mount", path);
}

/* The directories above `path`, and at `path` what `like` is: a place to mount on. Only hidden (empty, ours)
   directories lack anything, so on the host's own trees this finds everything there. */
static void make_parents(const char *path) {
  char copy[PATH_CAP];
  if (strlen(path) >= sizeof copy) die("mount", path);
  strcpy(copy, path);
  for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = 0;
    if (mkdir(copy, 0755) && errno != EEXIST && errno != EROFS) die_errno("mount", copy);
    *slash = '/';
  }
}

static void make_mount_point(const char *path, mode_t like) {
  struct stat st;
  if (!lstat(path, &st)) return;
  make_parents(path);
  if (S_ISDIR(like)) {
    if (mkdir(path, 0755)) die_errno("mount", path);
  } else {
    int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (fd < 0) die_errno("mount", path);
    close(fd);
  }
}

static void take_bind_source(struct mount_op *op) {
  op->tree_fd = (int)syscall(SYS_open_tree, AT_FDCWD, op->source, OPEN_TREE_CLONE_ | OPEN_TREE_CLOEXEC_ | AT_RECURSIVE_);
  if (op->tree_fd < 0) die_errno("mount", op->source);
  uint64_t set = MOUNT_ATTR_NOSUID_;
  if (!(op->flags & BIND_WRITABLE)) set |= MOUNT_ATTR_RDONLY_;
  if (!(op->flags & BIND_EXEC)) set |= MOUNT_ATTR_NOEXEC_;
  set_mount_attr(op->tree_fd, "", AT_EMPTY_PATH | AT_RECURSIVE_, set);
}

/* A file of ours, on a file system of its own. That stays below what is mounted on /tmp later. */
static void take_file(struct mount_op *op) {
  const char *place = "/tmp/file";
  if (mount("assay", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "size=16m,nr_inodes=4,mode=0755")) die_errno("mount", op->path);
  int fd = open(place, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
  size_t len = strlen(op->source);
  if (fd < 0 || fchmod(fd, 0644) || write(fd, op->source, len) != (ssize_t)len) die_errno("mount", op->path);
  close(fd);
  op->tree_fd = (int)syscall(SYS_open_tree, AT_FDCWD, place, OPEN_TREE_CLONE_ | OPEN_TREE_CLOEXEC_);
  if (op->tree_fd < 0) die_errno("mount", op->path);
  set_mount_attr(op->tree_fd, "", AT_EMPTY_PATH, MOUNT_ATTR_RDONLY_ | MOUNT_ATTR_NOSUID_ | MOUNT_ATTR_NOEXEC_);
}

static void place_bind(const struct mount_op *op) {
  struct stat st;
  if (fstat(op->tree_fd, &st)) die_errno("mount", op->source);
  make_mount_point(op->path, st.st_mode);
  if (syscall(SYS_move_mount, op->tree_fd, "", AT_FDCWD, op->path, MOVE_MOUNT_F_EMPTY_PATH_)) die_errno("mount", op->path);
  close(op->tree_fd);
}

/* Something is shown in it, and needs a place there first. */
static bool is_opened(const struct plan *plan, const struct mount_op *hidden) {
  size_t len = strlen(hidden->path);
  for (size_t i = 0; i < plan->mount_count; i++)
    if (&plan->mounts[i] != hidden && path_is_under(plan->mounts[i].path, hidden->path, len)) return true;
  return false;
}

static void hide(const struct mount_op *op, bool is_empty) {
  unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC | (is_empty ? MS_RDONLY : 0);
  make_mount_point(op->path, S_IFDIR);
  if (mount("assay", op->path, "tmpfs", flags, "size=256k,nr_inodes=1024,mode=0755")) die_errno("mount", op->path);
}

/* A file without rights and, at once, without a name: it lives on as what is mounted. */
static void mask_file(const char *path) {
  const char *source = "/tmp/.assay-mask";
  int fd = open(source, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0);
  if (fd < 0 || mount(source, path, NULL, MS_BIND, NULL) || unlink(source)) die_errno("mount", path);
  close(fd);
}

static void mask(const struct mount_op *op) {
  struct stat st;
  if (lstat(op->path, &st)) return; /* gone since the plan was made: the broker still refuses the name */
  if (!S_ISDIR(st.st_mode)) mask_file(op->path);
  else if (mount("assay", op->path, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "size=4k,nr_inodes=1,mode=0")) die_errno("mount", op->path);
  set_mount_attr(AT_FDCWD, op->path, 0, MOUNT_ATTR_RDONLY_ | MOUNT_ATTR_NOSUID_ | MOUNT_ATTR_NODEV_ | MOUNT_ATTR_NOEXEC_);
}

static void mount_tmpfs(const struct mount_op *op) {
  char options[128];
  snprintf(options, sizeof options, "size=%llu,nr_inodes=%llu,mode=%s", (unsigned long long)op->size_bytes,
           (unsigned long long)op->inodes, op->flags ? "1777" : "0700");
  make_mount_point(op->path, S_IFDIR);
  if (mount("assay", op->path, "tmpfs", MS_NOSUID | MS_NODEV, options)) die_errno("mount", op->path);
}

/* High numbers for processes are told from other numbers when they turn up in names. Where it may not be, it is not. */
static void start_pids_at(uint64_t first) {
  char text[32];
  int fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  int len = snprintf(text, sizeof text, "%llu", (unsigned long long)first - 1);
  if (write(fd, text, (size_t)len) != len) { /* they stay low */
  }
  close(fd);
}

static void mount_proc(const struct mount_op *op) {
  if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL)) die_errno("pid", "/proc");
  if (op->size_bytes) { /* since 6.14 the highest process number belongs to the namespace */
    char text[32];
    int fd = open("/proc/sys/kernel/pid_max", O_WRONLY | O_CLOEXEC);
    int len = snprintf(text, sizeof text, "%llu", (unsigned long long)op->size_bytes);
    if (fd < 0 || write(fd, text, (size_t)len) != len) die_errno("pids", "/proc/sys/kernel/pid_max");
    close(fd);
  }
  if (op->inodes) start_pids_at(op->inodes);
  set_mount_attr(AT_FDCWD, "/proc", 0, MOUNT_ATTR_RDONLY_);
}

/* Its own pseudo-terminals only. The one that the program was given stays to be found by name, as the console. */
static void mount_devpts(const struct mount_op *op) {
  struct stat st;
  if (mount("devpts", "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620"))
    die_errno("mount", "/dev/pts");
  if (op->tree_fd < 0 || lstat("/dev/console", &st)) return;
  if (syscall(SYS_move_mount, op->tree_fd, "", AT_FDCWD, "/dev/console", MOVE_MOUNT_F_EMPTY_PATH_)) die_errno("mount", "/dev/console");
  close(op->tree_fd);
}

static void take_terminal(struct mount_op *op) {
  char link[32], path[64];
  for (int fd = 0; fd < 3 && op->tree_fd < 0; fd++) {
    if (!isatty(fd)) continue;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t len = readlink(link, path, sizeof path - 1);
    if (len <= 0 || strncmp(path, "/dev/", 5)) continue;
    path[len] = 0;
    op->tree_fd = (int)syscall(SYS_open_tree, AT_FDCWD, path, OPEN_TREE_CLONE_ | OPEN_TREE_CLOEXEC_);
  }
}

static void perform_mount(const struct plan *plan, const struct mount_op *op) {
  switch (op->kind) {
    case MOUNT_HIDE: hide(op, !is_opened(plan, op)); break;
    case MOUNT_BIND:
    case MOUNT_FILE: place_bind(op); break;
    case MOUNT_MASK: mask(op); break;
    case MOUNT_TMPFS: mount_tmpfs(op); break;
    case MOUNT_SYMLINK:
      make_parents(op->path);
      if (symlink(op->source, op->path) && errno != EEXIST) die_errno("mount", op->path);
      break;
    case MOUNT_DIRECTORY: make_mount_point(op->path, S_IFDIR); break;
    case MOUNT_PROC: mount_proc(op); break;
    case MOUNT_DEVPTS: mount_devpts(op); break;
    default: die("plan", "unknown mount");
  }
}

/* Sources are taken while everything is still writable and visible, then the whole tree turns read-only, then
   the sources are put in place with their own rights. */
void build_view(struct plan *plan) {
  if (!(plan->namespaces & NS_MOUNT)) return;
  for (size_t i = 0; i < plan->mount_count; i++)
    if (plan->mounts[i].kind == MOUNT_BIND) take_bind_source(&plan->mounts[i]);
    else if (plan->mounts[i].kind == MOUNT_DEVPTS) take_terminal(&plan->mounts[i]);
  for (size_t i = 0; i < plan->mount_count; i++)
    if (plan->mounts[i].kind == MOUNT_FILE) take_file(&plan->mounts[i]);
  if (plan->flags & PLAN_READONLY_ROOT)
    set_mount_attr(AT_FDCWD, "/", AT_RECURSIVE_, MOUNT_ATTR_RDONLY_ | MOUNT_ATTR_NOSUID_);
  for (size_t i = 0; i < plan->mount_count; i++) perform_mount(plan, &plan->mounts[i]);
  for (size_t i = 0; i < plan->mount_count; i++)
    if (plan->mounts[i].kind == MOUNT_HIDE && is_opened(plan, &plan->mounts[i])) set_mount_attr(AT_FDCWD, plan->mounts[i].path, 0, MOUNT_ATTR_RDONLY_);
}

/* A caller who is root would get capabilities back at exec; an empty bounding set and NOROOT stop that. */
void drop_capabilities(void) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct none[2] = {{0}};
  if (prctl(PR_CAPBSET_READ, 0) > 0)
    for (unsigned long cap = 0; prctl(PR_CAPBSET_READ, cap) >= 0; cap++) prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  prctl(PR_SET_SECUREBITS, SECURE_ALL_BITS | SECURE_ALL_LOCKS, 0, 0, 0);
  if (syscall(SYS_capset, &header, none)) die_errno("capabilities", "capset");
}

int landlock_abi(void) {
  long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LL_CREATE_RULESET_VERSION);
  return abi < 0 ? 0 : (int)abi;
}

static size_t attr_size(uint32_t abi) { return abi < 4 ? 8 : abi < 6 ? 16 : 24; }

static void restrict_self(int ruleset) {
  if (syscall(SYS_landlock_restrict_self, ruleset, 0)) die_errno("landlock", "restrict");
  close(ruleset);
}

static void add_path_rule(int ruleset, const char *path, uint64_t access) {
  struct ll_path_beneath_attr rule = {.allowed_access = access};
  struct stat st;
  rule.parent_fd = open(path, O_PATH | O_CLOEXEC);
  if (rule.parent_fd < 0) return; /* nothing there: nothing is granted */
  if (fstat(rule.parent_fd, &st)) die_errno("landlock", path);
  if (!S_ISDIR(st.st_mode)) rule.allowed_access &= LL_FILE_RIGHTS;
  if (rule.allowed_access && syscall(SYS_landlock_add_rule, ruleset, LL_RULE_PATH_BENEATH, &rule, 0))
    die_errno("landlock", path);
  close(rule.parent_fd);
}

/* The terminal and the input that the program already holds may be opened again by name (/dev/stdin, /dev/tty). */
static void add_stdio_rules(int ruleset, uint64_t handled) {
  for (int fd = 0; fd < 3; fd++) {
    char path[32];
    bool tty = isatty(fd);
    uint64_t access = tty ? LL_FS_READ_FILE | LL_FS_WRITE_FILE | LL_FS_IOCTL_DEV : fd == 0 ? LL_FS_READ_FILE : 0;
    struct stat st;
    if (!access || fstat(fd, &st) || !(S_ISREG(st.st_mode) || tty)) continue;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    add_path_rule(ruleset, path, access & handled);
  }
}

/* The broker, which is in this process, connects; only the program does not. */
static bool is_brokered(const struct plan *plan) { return plan->flags & PLAN_BROKERED; }

void apply_landlock(const struct plan *plan) {
  if (!plan->has_landlock) return;
  struct ll_ruleset_attr attr = {plan->ll_fs, is_brokered(plan) ? 0 : plan->ll_net, plan->ll_scope};
  int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, attr_size(plan->landlock_abi), 0);
  if (ruleset < 0) die_errno("landlock", "create");
  add_stdio_rules(ruleset, plan->ll_fs);
  for (size_t i = 0; i < plan->ll_rule_count; i++)
    add_path_rule(ruleset, plan->ll_rules[i].path, plan->ll_rules[i].access);
  restrict_self(ruleset);
}

/* A second layer on the program alone: from inside it, the keeper is then out of reach of signals and ptrace. */
void apply_landlock_scope(const struct plan *plan) {
  if (!plan->has_landlock || !(plan->ll_scope || is_brokered(plan))) return;
  struct ll_ruleset_attr attr = {LL_FS_REFER, is_brokered(plan) ? plan->ll_net : 0, plan->ll_scope};
  int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, attr_size(plan->landlock_abi), 0);
  if (ruleset < 0) die_errno("landlock", "create");
  add_path_rule(ruleset, "/", LL_FS_REFER); /* a layer that does not grant moving between directories refuses it */
  restrict_self(ruleset);
}
