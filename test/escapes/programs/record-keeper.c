/* Against the recorder itself, which is the parent of the program inside. Afterwards it must still record. */
#include "attack.h"
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/uio.h>

static pid_t keeper;

static void try_open(const char *name, int flags) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", keeper, name);
    int fd = open(path, flags);
    if (fd < 0) return;
    printf("opened %s\n", name);
    if (flags != O_RDONLY) write(fd, "{\"lost\":9}\n", 11);
    close(fd);
}

/* By way of a descriptor of our own: nobody is asked for one that only names something. */
static void try_again(const char *name, int flags) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", keeper, name);
    int named = open(path, O_PATH);
    snprintf(path, sizeof path, "/proc/self/fd/%d", named);
    int fd = open(path, flags);
    if (fd >= 0) printf("opened %s again\n", name);
    close(fd);
    close(named);
}

static void look_into(void) {
    char name[16];
    try_open("mem", O_RDWR);
    try_open("maps", O_RDONLY);
    try_open("environ", O_RDONLY);
    try_open("root/etc/hostname", O_RDONLY);
    try_open("cwd/allowed.txt", O_RDONLY);
    try_open("oom_score_adj", O_WRONLY);
    try_again("mem", O_RDONLY);
    try_again("mem", O_RDWR);
    try_again("environ", O_RDONLY);
    try_again("maps", O_RDONLY);
    try_again("task", O_RDONLY | O_DIRECTORY);
    for (int fd = 3; fd < 32; fd++) {
        snprintf(name, sizeof name, "fd/%d", fd);
        try_open(name, O_RDWR);
        try_open(name, O_RDONLY);
        try_open(name, O_PATH);
    }
}

static void hinder(void) {
    static const int signals[] = {SIGSTOP, SIGTSTP, SIGUSR1, SIGTERM, SIGXFSZ, SIGABRT, SIGKILL};
    struct rlimit none = {0, 0};
    struct sched_param idle = {0};
    char bytes[16];
    struct iovec local = {bytes, 16}, remote = {bytes, 16};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (!kill(keeper, signals[i])) printf("sent %d\n", signals[i]);
    int pidfd = (int)syscall(SYS_pidfd_open, keeper, 0);
    for (int fd = 0; fd < 16; fd++)
        if (syscall(SYS_pidfd_getfd, pidfd, fd, 0) >= 0) puts("took a descriptor");
    if (!syscall(SYS_pidfd_send_signal, pidfd, SIGSTOP, NULL, 0)) puts("sent by pidfd");
    for (int resource = 0; resource < RLIM_NLIMITS; resource++)
        if (!prlimit(keeper, (enum __rlimit_resource)resource, &none, NULL)) printf("limited %d\n", resource);
    if (!ptrace(PTRACE_SEIZE, keeper, 0, 0)) puts("seized");
    if (process_vm_readv(keeper, &local, 1, &remote, 1, 0) > 0) puts("read memory");
    if (process_vm_writev(keeper, &local, 1, &remote, 1, 0) > 0) puts("wrote memory");
    sched_setscheduler(keeper, SCHED_IDLE, &idle); /* it may be slow, and the program with it */
    setpriority(PRIO_PROCESS, (id_t)keeper, 19);
}

/* Limits of our own must not become those of the recorder. */
static void lower_own_limits(void) {
    struct rlimit none = {0, 0}, few = {3, 3};
    setrlimit(RLIMIT_FSIZE, &none);
    setrlimit(RLIMIT_NOFILE, &few);
    signal(SIGXFSZ, SIG_IGN);
    syscall(SYS_close_range, 3u, ~0u, 0u);
}

static void attack_keeper(void) {
    keeper = getppid();
    look_into();
    hinder();
    lower_own_limits();
    mkdir("after", 0755);
    int fd = open("allowed.txt", O_RDONLY);
    printf("open %s\n", fd < 0 ? strerrorname_np(errno) : "ok");
}

/* A program that never ends by itself, with one that its parent has left. */
static void go_on(void) {
    if (!fork()) {
        setsid();
        if (fork()) _exit(0);
        for (int i = 0;; i++) {
            char name[32];
            snprintf(name, sizeof name, "beat-%d", i);
            mkdir(name, 0755);
            int fd = open("heartbeat", O_WRONLY | O_CREAT | O_APPEND, 0644);
            write(fd, ".", 1);
            close(fd);
            usleep(20000);
        }
    }
    puts("ready");
    fflush(stdout);
    for (;;) write(1, "", 0), usleep(20000);
}

const struct attack RECORD_KEEPER[] = {
    {"record-keeper", attack_keeper},
    {"record-go-on", go_on},
    {NULL, NULL},
};
