/* Getting privileges that the caller did not have, or getting back those that were dropped. */
#include "attack.h"
#include <linux/capability.h>
#include <linux/sched.h>

/* CAP_SYS_ADMIN in a namespace of our own is enough for this, and for much of the kernel's attack surface. */
static void prove_admin(void) {
    if (mkdir("mnt", 0755) && errno != EEXIST) fail("mkdir");
    if (mount("none", "mnt", "tmpfs", 0, NULL)) fail("mount");
    printf("got CAP_SYS_ADMIN\n");
    fflush(stdout);
}

static void by_unshare(void) {
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS)) fail("unshare");
    prove_admin();
}

static void wait_child(long pid) {
    if (pid < 0) fail("clone");
    waitpid((pid_t)pid, NULL, __WALL);
}

static void by_clone(void) {
    long pid = syscall(SYS_clone, CLONE_NEWUSER | CLONE_NEWNS | SIGCHLD, 0, 0, 0, 0);
    if (pid == 0) prove_admin(), _exit(0);
    wait_child(pid);
}

static void by_clone3(void) {
    struct clone_args args = {.flags = CLONE_NEWUSER | CLONE_NEWNS, .exit_signal = SIGCHLD};
    long pid = syscall(435, &args, sizeof args);
    if (pid == 0) prove_admin(), _exit(0);
    wait_child(pid);
}

/* Joining a namespace of the victim, which lives outside. */
static void join(const char *name) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/ns/%s", conf_number("pid"), name);
    int fd = open(path, O_RDONLY);
    if (fd < 0) fail(path);
    if (setns(fd, 0)) fail("setns");
}

static void by_setns_mount(void) {
    join("mnt");
    print_file(at("outside/secret.txt"));
}

/* All at once, by a pidfd. */
static void by_setns_pidfd(void) {
    int fd = (int)syscall(434, (pid_t)conf_number("pid"), 0);
    if (fd < 0) fail("pidfd_open");
    if (setns(fd, CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC)) fail("setns");
    print_file(at("outside/secret.txt"));
}

/* root-secret.txt can be read by root only; outside/suid-cat is this program, setuid root. */
static void by_setuid(void) {
    execl(at("work/suid"), "suid", "setuid-inner", base, token, (char *)NULL);
    fail("exec");
}

static void setuid_inner(void) {
    if (geteuid() != 0) errno = EPERM, fail("not root");
    print_file(at("outside/root-secret.txt"));
}

/* A capability to use as an ordinary root would: read what belongs to somebody else, with mode 0. */
static void dac_override(void) { print_file(at("work/not-ours.txt")); }

/* A name space for processes of our own would hide them from whoever counts and ends them. */
static void new_pid_namespace(void) {
    become_root_in_userns(CLONE_NEWPID);
    pid_t pid = fork();
    if (pid == 0) {
        if (getpid() == 1) printf("got a pid namespace\n"), fflush(stdout);
        _exit(0);
    }
    waitpid(pid, NULL, 0);
}

const struct attack PRIVILEGES[] = {
    {"priv-unshare", by_unshare},
    {"priv-clone", by_clone},
    {"priv-clone3", by_clone3},
    {"priv-setns-mount", by_setns_mount},
    {"priv-setns-pidfd", by_setns_pidfd},
    {"priv-setuid", by_setuid},
    {"setuid-inner", setuid_inner},
    {"priv-dac-override", dac_override},
    {"priv-pid-namespace", new_pid_namespace},
    {NULL, NULL},
};
